/** Writes test certificates with openssl: valid ones and ones with a single fault. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const day = 86_400_000;

/** Days of validity of the unexpired certificates. */
export const validDays = 30;

/** Days of validity of `expiring`. */
export const expiringDays = 5;

const settings = `
[req]
distinguished_name = subject
[subject]
[ca]
default_ca = issuer
[issuer]
certificate = authority.pem
private_key = authority.key
database = issued.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = subject_policy
unique_subject = no
copy_extensions = copy
[subject_policy]
commonName = supplied
`;

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const localNames = "subjectAltName=DNS:localhost,IP:127.0.0.1";
const otherNames = "subjectAltName=DNS:elsewhere.test";

/** Certificates for loopback with one fault each: `<name>.pem` and `<name>.key` in the folder. */
export const certificates = ["good", "selfSigned", "expired", "wrongName"] as const;

/** Writes the certificates, `expiring` and `authority.pem`, which signed all but the self-signed one. */
export function writeCertificates(folder: string) {
  writeFileSync(join(folder, "openssl.conf"), settings);
  writeFileSync(join(folder, "issued.txt"), "");

  const runOpenssl = (command: string, ...args: string[]) => {
    const all = ["openssl", command, "-config", "openssl.conf", ...args];
    const { exitCode, stderr } = Bun.spawnSync(all, { cwd: folder });
    if (exitCode !== 0) throw new Error(`openssl ${command}: ${stderr.toString()}`);
  };
  const createRequest = (name: string, extension: string, ...args: string[]) => {
    const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`];
    const subject = ["-subj", `/CN=${name}`, "-addext", extension];
    runOpenssl("req", ...newKey, ...subject, ...files, ...args);
  };
  const selfSigned = ["-x509", "-days", String(validDays)];
  const signCertificate = (name: string, names: string, from: number, to: number) => {
    createRequest(name, names, "-new");
    const period = ["-startdate", formatDate(from), "-enddate", formatDate(to)];
    runOpenssl("ca", "-batch", "-notext", "-in", `${name}.pem`, "-out", `${name}.pem`, ...period);
  };

  const now = Date.now();
  createRequest("authority", "basicConstraints=critical,CA:TRUE", ...selfSigned);
  createRequest("selfSigned", localNames, ...selfSigned);
  signCertificate("good", localNames, now - day, now + validDays * day);
  signCertificate("wrongName", otherNames, now - day, now + validDays * day);
  signCertificate("expired", localNames, now - 2 * day, now - day);
  signCertificate("expiring", localNames, now - day, now + expiringDays * day);
}

/** Writes a certificate that is its own authority, as `<name>.pem` and `<name>.key`; returns the files. */
export function writeSelfSigned(folder: string, name: string, names: string) {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
  const files = ["-keyout", key, "-out", cert];
  const args = ["openssl", "req", "-x509", "-days", "1", ...newKey, ...subject, ...files];
  const { exitCode, stderr } = Bun.spawnSync(args);
  if (exitCode !== 0) throw new Error(`openssl: ${stderr.toString()}`);
  chmodSync(key, 0o600);
  return { cert, key };
}

/** The time format of openssl: YYMMDDHHMMSSZ. */
function formatDate(time: number): string {
  return `${new Date(time).toISOString().slice(2, 19).replaceAll(/\D/g, "")}Z`;
}
