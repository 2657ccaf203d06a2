import { toAsciiEmail } from "../../core/text/email-address.ts";
import { isAtLeast, type Role } from "../../core/roles.ts";

/** Normalizes an e-mail address for comparison, without regard to case. */
export function emailKeyOf(email: string): string {
  return (toAsciiEmail(email) ?? email).normalize("NFC").toLowerCase();
}

/** Whether a password alone does not sign the person in. */
export const hasTwoFactor = (person: {
  totpSecret: string | null;
  passkeyFactor: boolean;
}): boolean => person.totpSecret !== null || person.passkeyFactor;

/** The most frequent leaked passwords of at least 10 characters. */
const commonPasswords = new Set([
  "1234567890",
  "0123456789",
  "0987654321",
  "12345678910",
  "123456789a",
  "1q2w3e4r5t",
  "qwertyuiop",
  "qwerty1234",
  "qwerty12345",
  "password12",
  "password123",
  "password1234",
  "passwordpassword",
  "iloveyou123",
  "letmein123",
  "welcome123",
  "changeme123",
  "administrator",
  "1111111111",
  "0000000000",
  "aaaaaaaaaa",
  "signalbox123",
]);

/** Returns why a password is too weak, given the texts known about its owner; null if it is acceptable. */
export function findPasswordIssue(password: string, known: readonly string[]): string | null {
  const lowerCasePassword = password.toLowerCase();
  const words = known.flatMap((text) => [text, text.split("@")[0] ?? ""]);
  if (words.some((text) => text.toLowerCase() === lowerCasePassword))
    return "must not be your name, your e-mail address or the name of an organization";
  if (commonPasswords.has(lowerCasePassword) || new Set(lowerCasePassword).size < 3)
    return "is too easy to guess";
  return null;
}

/**
 * Whether a person with `actorRole` can add, change or remove a person with `role`. Only owners
 * can manage owners.
 */
export function canManage(actorRole: Role, role: Role): boolean {
  return role === "owner" ? actorRole === "owner" : isAtLeast(actorRole, "admin");
}
