import { writeCertificates } from "./certificates.ts";
import { freePort } from "./binary.ts";
import { newFolder, start } from "./real-targets.ts";

/** OpenSSL's server, which returns facts about the connection over TLS. */
export async function opensslServer(more: readonly string[]) {
  const [port, folder] = [freePort(), newFolder()];
  writeCertificates(folder);
  const files = ["-cert", "good.pem", "-key", "good.key", "-CAfile", "authority.pem"];
  const args = ["s_server", "-www", "-accept", `127.0.0.1:${port}`, ...files, ...more];
  const stop = await start({ program: "openssl", args, folder }, [port]);
  return { url: `https://localhost:${port}/`, [Symbol.asyncDispose]: stop };
}
