import { writeCertificates } from "./certificates.ts";
import { getFreePort } from "./binary.ts";
import { createFolder, startProgram } from "./real-targets.ts";

/** OpenSSL's server, which returns facts about the connection over TLS. */
export async function startOpensslServer(more: readonly string[]) {
  const [port, folder] = [getFreePort(), createFolder()];
  writeCertificates(folder);
  const files = ["-cert", "good.pem", "-key", "good.key", "-CAfile", "authority.pem"];
  const args = ["s_server", "-www", "-accept", `127.0.0.1:${port}`, ...files, ...more];
  const stop = await startProgram({ program: "openssl", args, folder }, [port]);
  return { url: `https://localhost:${port}/`, [Symbol.asyncDispose]: stop };
}
