import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needed } from "./needed.js";

/** An authority of the test's own, and a certificate that it has given to a server. */
export interface Certificates {
  readonly caFile: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** `subject`: whom the certificate is for, such as `IP:127.0.0.1`. */
export async function certificatesIn(folder: string, name: string, subject: string): Promise<Certificates> {
  const program = await needed(["openssl"], "openssl");
  const openssl = (...args: string[]) => execFileSync(program, args, { cwd: folder, stdio: "ignore" });
  const [ca, own] = [`${name}-ca`, name];
  openssl(
    ...["req", "-x509", ...NEW_KEY, "-keyout", `${ca}.key`, "-out", `${ca}.pem`],
    ...["-days", "2", "-subj", `/CN=${ca}`],
  );
  writeFileSync(join(folder, `${own}.ext`), `subjectAltName=${subject}\n`);
  openssl("req", ...NEW_KEY, "-keyout", `${own}.key`, "-out", `${own}.csr`, "-subj", `/CN=${own}`);
  openssl(
    ...["x509", "-req", "-in", `${own}.csr`, "-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial"],
    ...["-days", "2", "-extfile", `${own}.ext`, "-out", `${own}.pem`],
  );
  const [caFile, certFile, keyFile] = [`${ca}.pem`, `${own}.pem`, `${own}.key`].map((file) =>
    join(folder, file),
  );
  const read = (file = "") => readFileSync(file, "utf8");
  return {
    ...{ caFile: caFile ?? "", certFile: certFile ?? "", keyFile: keyFile ?? "" },
    ...{ ca: read(caFile), cert: read(certFile), key: read(keyFile) },
  };
}
