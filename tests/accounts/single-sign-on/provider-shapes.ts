/**
 * Reads the discovery documents and claims of common providers. The sources are in the files. Hosts, keys and people are
 * replaced.
 */
import { Glob } from "bun";
import { basename } from "node:path";

type Claims = Record<string, unknown>;

export type ProviderShape = {
  sources: string[];
  /** Fields of the provider in Signalbox, as its preset fills them in. */
  settings: object;
  metadata: Record<string, unknown>;
  idToken: Claims;
  /** Null if the ID token has all claims. */
  userInfo: Claims | null;
  /** A group of the account, as it is mapped. */
  group: string | null;
};

const folder = `${import.meta.dir}/../../fixtures/sign-in-providers`;

export const providerShapes: [name: string, shape: ProviderShape][] = await Promise.all(
  [...new Glob("*.json").scanSync({ cwd: folder, absolute: true })]
    .toSorted()
    .map(async (path): Promise<[string, ProviderShape]> => [
      basename(path, ".json"),
      await Bun.file(path).json(),
    ]),
);

/** Returns a recorded discovery document for the fake provider: its own addresses, and no field that was not recorded. */
export function adoptMetadata({ metadata }: ProviderShape): Record<string, unknown> {
  const ownAddresses = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "jwks_uri",
    "userinfo_endpoint",
  ];
  const added = [
    "code_challenge_methods_supported",
    "authorization_response_iss_parameter_supported",
  ];
  const stored = Object.entries(metadata).filter(([name]) => !ownAddresses.includes(name));
  return Object.fromEntries([...added.map((name) => [name, undefined]), ...stored]);
}
