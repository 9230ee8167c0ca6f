/** The shapes of the Kubernetes objects that the guide uses, by the published API: a field that is not there is refused, as a strict validation does. */

type Shape =
  | "string"
  | "int"
  | "bool"
  | "intOrString"
  | Fields
  | { readonly list: Shape }
  | { readonly map: Shape };

interface Fields {
  readonly fields: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

const labels: Shape = { map: "string" };
const metadata: Shape = { fields: { name: "string", labels, namespace: "string" }, required: ["name"] };
const selector: Shape = { fields: { matchLabels: labels }, required: ["matchLabels"] };
const probe: Shape = {
  fields: {
    httpGet: { fields: { path: "string", port: "intOrString" }, required: ["port"] },
    tcpSocket: { fields: { port: "intOrString" }, required: ["port"] },
    periodSeconds: "int",
    failureThreshold: "int",
    timeoutSeconds: "int",
  },
};
const env: Shape = {
  fields: {
    name: "string",
    value: "string",
    valueFrom: { fields: { fieldRef: { fields: { fieldPath: "string" }, required: ["fieldPath"] } } },
  },
  required: ["name"],
};
const container: Shape = {
  fields: {
    name: "string",
    image: "string",
    command: { list: "string" },
    args: { list: "string" },
    env: { list: env },
    ports: { list: { fields: { name: "string", containerPort: "int" }, required: ["containerPort"] } },
    startupProbe: probe,
    readinessProbe: probe,
    livenessProbe: probe,
    lifecycle: { fields: { preStop: { fields: { exec: { fields: { command: { list: "string" } } } } } } },
    resources: { fields: { requests: { map: "string" }, limits: { map: "string" } } },
    volumeMounts: {
      list: {
        fields: { name: "string", mountPath: "string", readOnly: "bool" },
        required: ["name", "mountPath"],
      },
    },
  },
  required: ["name", "image"],
};
const volume: Shape = {
  fields: {
    name: "string",
    secret: { fields: { secretName: "string", defaultMode: "int" } },
    emptyDir: { fields: { sizeLimit: "string" } },
  },
  required: ["name"],
};
const podSpec: Shape = {
  fields: {
    terminationGracePeriodSeconds: "int",
    securityContext: { fields: { runAsNonRoot: "bool", runAsUser: "int", fsGroup: "int" } },
    topologySpreadConstraints: {
      list: {
        fields: {
          maxSkew: "int",
          topologyKey: "string",
          whenUnsatisfiable: "string",
          labelSelector: selector,
        },
        required: ["maxSkew", "topologyKey", "whenUnsatisfiable"],
      },
    },
    containers: { list: container },
    volumes: { list: volume },
  },
  required: ["containers"],
};
const servicePort: Shape = {
  fields: { name: "string", port: "int", targetPort: "intOrString", protocol: "string" },
  required: ["port"],
};

function kind(apiVersion: string, of: Readonly<Record<string, Shape>>): readonly [string, Fields] {
  const fields = { apiVersion: "string", kind: "string", metadata, ...of } as const;
  return [
    apiVersion,
    {
      fields,
      required: ["apiVersion", "kind", "metadata", ...Object.keys(of).filter((name) => name === "spec")],
    },
  ];
}

const KINDS: Readonly<Record<string, readonly [string, Fields]>> = {
  Secret: kind("v1", { type: "string", stringData: { map: "string" } }),
  Service: kind("v1", {
    spec: {
      fields: {
        clusterIP: "string",
        publishNotReadyAddresses: "bool",
        selector: labels,
        ports: { list: servicePort },
      },
    },
  }),
  PodDisruptionBudget: kind("policy/v1", {
    spec: { fields: { maxUnavailable: "intOrString", minAvailable: "intOrString", selector } },
  }),
  StatefulSet: kind("apps/v1", {
    spec: {
      fields: {
        serviceName: "string",
        replicas: "int",
        podManagementPolicy: "string",
        selector,
        template: { fields: { metadata: { fields: { labels } }, spec: podSpec }, required: ["spec"] },
      },
      required: ["selector", "template"],
    },
  }),
};

/** What is wrong with an object, by path. */
export function problemsOf(object: unknown): string[] {
  const { kind: name, apiVersion } = object as { readonly kind?: string; readonly apiVersion?: string };
  const [version, shape] = KINDS[name ?? ""] ?? [];
  if (shape === undefined) return [`${name} is no kind that is known`];
  return [
    ...(version === apiVersion ? [] : [`${name}: ${apiVersion} is not ${version}`]),
    ...problemsAt(object, shape, name ?? ""),
  ];
}

function problemsAt(value: unknown, shape: Shape, path: string): string[] {
  if (typeof shape === "string")
    return isOf(value, shape) ? [] : [`${path} is ${JSON.stringify(value)}, and no ${shape}`];
  if ("list" in shape)
    return Array.isArray(value)
      ? value.flatMap((each, i) => problemsAt(each, shape.list, `${path}[${i}]`))
      : [`${path} is no list`];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is no object`];
  const entries = Object.entries(value);
  if ("map" in shape)
    return entries.flatMap(([name, each]) => problemsAt(each, shape.map, `${path}.${name}`));
  const missing = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...entries.flatMap(([name, each]) => {
      const of = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return of === undefined ? [`${path}.${name} is no field`] : problemsAt(each, of, `${path}.${name}`);
    }),
  ];
}

function isOf(value: unknown, shape: "string" | "int" | "bool" | "intOrString"): boolean {
  if (shape === "bool") return typeof value === "boolean";
  if (shape === "string") return typeof value === "string";
  return Number.isSafeInteger(value) || (shape === "intOrString" && typeof value === "string");
}
