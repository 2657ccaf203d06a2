import { readFileSync } from "node:fs";
import { sha256 } from "../../core/ids.ts";
import { timingSafeEqual } from "node:crypto";
import { invalidFieldError } from "../../core/validation.ts";
import { parseBearerToken } from "../../http/access/authentication.ts";

const tokenPattern = /^[\x21-\x7e]{32,200}$/;

export type MetricsToken = ReturnType<typeof createMetricsToken>;

/**
 * Manages the bearer token for metrics of the whole appliance. Without a file, they are disabled.
 * Throws VALIDATION_ERROR.
 */
export function createMetricsToken(file: string | undefined) {
  let digest = readDigest(file);
  return {
    isSentBy(request: Request): boolean {
      const sent = parseBearerToken(request);
      return sent !== null && digest !== null && timingSafeEqual(hashToken(sent), digest);
    },
    /** Reads the token file again. Throws VALIDATION_ERROR, and then leaves the token unchanged. */
    reload(file: string | undefined) {
      digest = readDigest(file);
    },
  };
}

const hashToken = (token: string) => Buffer.from(sha256(token), "hex");

function readDigest(file: string | undefined): Buffer | null {
  if (file === undefined) return null;
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw invalidFieldError(
      "--metrics-token-file",
      `must name a file that can be read (${file}: ${code})`,
    );
  }
  if (tokenPattern.test(token)) return hashToken(token);
  throw invalidFieldError(
    "--metrics-token-file",
    `must name a file with a token of 32 to 200 letters, digits and symbols without spaces; ${
      token === "" ? "it is empty" : "it has another one"
    }. Create one with openssl rand -hex 32`,
  );
}
