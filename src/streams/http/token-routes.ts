import { HeadwaterError } from "../../errors.js";
import { DEFAULT_QUOTAS, type Quotas, SCOPES, type TokenScope } from "../service/index.js";
import { objectIn, textOf } from "./body.js";
import { numberIn, textsIn } from "./definition-routes.js";
import { asked, json, type Route } from "./route.js";

const QUOTAS = Object.keys(DEFAULT_QUOTAS);
const EXPIRY_MS_MAX = 100 * 365 * 24 * 3600 * 1000;

/** Tokens of the caller's tenant; tenants and their quotas, for operators. */
export const tokenRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/tokens",
    scope: "admin",
    async run({ request, response, service, granted }) {
      const { scopes, expiresMs = null } = await asked(request, ["scopes", "expiresMs"]);
      const wanted = scopesIn(scopes);
      if (wanted.includes("operator") && !granted.scopes.includes("operator"))
        throw new HeadwaterError("HW-5409", 'this token does not have the scope "operator".');
      const token = await service.addToken(granted.tenant, wanted, expiryIn(expiresMs));
      json(response, { token }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/tokens",
    scope: "admin",
    async run({ response, service, granted }) {
      json(response, { tokens: await service.tokensOf(granted.tenant) });
    },
  },
  {
    method: "DELETE",
    path: "/v1/tokens/:id",
    scope: "admin",
    async run({ response, service, granted, name }) {
      if (!(await service.revokeToken(granted.tenant, name)))
        throw new HeadwaterError("HW-4004", "there is no such token.");
      json(response, {});
    },
  },
  {
    method: "GET",
    path: "/v1/tenants",
    scope: "operator",
    async run({ response, service }) {
      json(response, { tenants: service.tenants });
    },
  },
  {
    method: "POST",
    path: "/v1/tenants",
    scope: "operator",
    async run({ request, response, service }) {
      const { name, quotas = {} } = await asked(request, ["name", "quotas"]);
      const tenant = textOf(name, "name");
      if (service.has(tenant)) throw new HeadwaterError("HW-5402", `there is a tenant "${tenant}" already.`);
      const wanted = quotasIn(quotas);
      const streams = await service.tenant(tenant);
      await streams.setQuotas(wanted);
      json(response, { name: tenant, token: await service.addToken(tenant, ["admin"]) }, 201);
    },
  },
  {
    method: "PUT",
    path: "/v1/tenants/:name/quotas",
    scope: "operator",
    async run({ request, response, service, name }) {
      const wanted = quotasIn(await asked(request, QUOTAS));
      if (!service.has(name)) throw new HeadwaterError("HW-4004", "there is no such tenant.");
      const streams = await service.tenant(name);
      await streams.setQuotas(wanted);
      json(response, streams.quotas);
    },
  },
  {
    method: "GET",
    path: "/v1/quotas",
    scope: "read",
    async run({ response, streams }) {
      json(response, streams.quotas);
    },
  },
];

function scopesIn(value: unknown): readonly TokenScope[] {
  const words = textsIn(value, "scopes");
  const scopes = SCOPES.filter((scope) => words.includes(scope));
  if (scopes.length === words.length && scopes.length > 0) return scopes;
  throw new HeadwaterError("HW-4005", `"scopes" are one or more of ${SCOPES.join(", ")}.`);
}

function expiryIn(value: unknown): number | null {
  if (value === null) return null;
  const ms = numberIn(value, "expiresMs");
  if (ms > Date.now() && ms < Date.now() + EXPIRY_MS_MAX) return ms;
  throw new HeadwaterError("HW-4005", '"expiresMs" is a time to come, in milliseconds since 1970.');
}

function quotasIn(value: unknown): Partial<Quotas> {
  const entries = Object.entries(objectIn(value, "quotas", QUOTAS)).map(([name, given]) => {
    const amount = numberIn(given, name);
    if (amount < 0) throw new HeadwaterError("HW-4005", `"${name}" is a number from 0 on.`);
    return [name, amount];
  });
  return Object.fromEntries(entries) as Partial<Quotas>;
}
