import { readFileSync } from "node:fs";
import { sha256 } from "../../core/ids.ts";
import { timingSafeEqual } from "node:crypto";
import { invalid } from "../../core/validation.ts";
import { bearerTokenOf } from "../../http/access/authentication.ts";

const shape = /^[\x21-\x7e]{32,200}$/;

export type MetricsToken = ReturnType<typeof metricsToken>;

/**
 * Manages the bearer token for metrics of the whole appliance. Without a file, they are disabled.
 * Throws VALIDATION_ERROR.
 */
export function metricsToken(file: string | undefined) {
  let digest = digestIn(file);
  return {
    isSentBy(request: Request): boolean {
      const sent = bearerTokenOf(request);
      return sent !== null && digest !== null && timingSafeEqual(digestOf(sent), digest);
    },
    /** Reads the token file again. Throws VALIDATION_ERROR, and then leaves the token unchanged. */
    read(file: string | undefined) {
      digest = digestIn(file);
    },
  };
}

const digestOf = (token: string) => Buffer.from(sha256(token), "hex");

function digestIn(file: string | undefined): Buffer | null {
  if (file === undefined) return null;
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw invalid("--metrics-token-file", `must name a file that can be read (${file}: ${code})`);
  }
  if (shape.test(token)) return digestOf(token);
  throw invalid(
    "--metrics-token-file",
    `must name a file with a token of 32 to 200 letters, digits and signs without spaces; ${
      token === "" ? "it is empty" : "it has another one"
    }: openssl rand -hex 32 makes one`,
  );
}
