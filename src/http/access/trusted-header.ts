/** Reads the person whom a trusted proxy has signed in from its headers. */
import { AppError } from "../../core/errors.ts";
import { decodeUtf8, decodeWords } from "./header-text.ts";

/** Names of the headers; null for headers that are not read. */
type TrustedHeaderNames = {
  user: string;
  email: string | null;
  name: string | null;
  groups: string | null;
};

/** The person as the proxy knows them. */
export type HeaderAccount = {
  user: string;
  email: string | null;
  name: string | null;
  groups: readonly string[];
};

export type TrustedHeader = {
  /**
   * Returns the person of a request through a trusted proxy; null for other requests and without the header. Throws
   * BAD_REQUEST for a value that the proxy can't have meant, so that no other sign-in takes its place.
   */
  read(request: Request): HeaderAccount | null;
  /** Address at which the proxy signs people out; null if it is unknown. */
  signOutUrl: string | null;
};

/** Ignores all headers. */
export const noTrustedHeader: TrustedHeader = { read: () => null, signOutUrl: null };

/** Reads these headers from connections of trusted proxies, by the address of the socket. */
export function createTrustedHeader(
  names: TrustedHeaderNames,
  isFromTrustedProxy: (request: Request) => boolean,
  signOutUrl: string | null = null,
): TrustedHeader {
  return {
    signOutUrl,
    read(request) {
      const user = readText(request, names.user);
      if (user === null || !isFromTrustedProxy(request)) return null;
      assertSingleValue(names.user, user);
      const email = names.email === null ? null : readText(request, names.email);
      if (names.email !== null && email !== null) assertSingleValue(names.email, email);
      const groups = names.groups === null ? null : readText(request, names.groups);
      return {
        user,
        email,
        // Only the name, because an encoded user or group could otherwise pass for another one.
        name: names.name === null ? null : decodeWords(readText(request, names.name) ?? "") || null,
        groups: splitGroups(groups ?? ""),
      };
    },
  };
}

function readText({ headers }: Request, name: string): string | null {
  const text = decodeUtf8(headers.get(name)?.trim() ?? "");
  return text === "" ? null : text;
}

/** A repeated header arrives joined by commas. One of its values can be the client's own. */
function assertSingleValue(name: string, value: string) {
  if (!value.includes(",") && value.length <= 254) return;
  throw new AppError(
    "BAD_REQUEST",
    `The header ${name} must have one value of at most 254 characters. The proxy must replace the value that a client sends.`,
  );
}

/** Splits a list of groups: by commas as in Authelia and oauth2-proxy, or by bars as in Authentik. */
const splitGroups = (text: string): string[] => [
  ...new Set(
    text
      .split(text.includes("|") ? "|" : ",")
      .map((group) => group.trim())
      .filter((group) => group !== ""),
  ),
];
