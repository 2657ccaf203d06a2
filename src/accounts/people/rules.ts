import { toAsciiEmail } from "../../core/text/email-address.ts";
import { isAtLeast, type Role } from "../../core/roles.ts";

/** An e-mail address as it is compared: whoever writes it in capitals is the same person. */
export function emailKeyOf(email: string): string {
  return (toAsciiEmail(email) ?? email).normalize("NFC").toLowerCase();
}

/** What people choose first of all, by the lists of leaked passwords, with at least 10 characters. */
const commonest = new Set([
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

/** Why this is no password for somebody of these names and this address; null where it is one. */
export function validatePassword(password: string, known: readonly string[]): string | null {
  const plain = password.toLowerCase();
  const said = known.flatMap((text) => [text, text.split("@")[0] ?? ""]);
  if (said.some((text) => text.toLowerCase() === plain))
    return "must not be your name, your e-mail address or the name of an organization";
  if (commonest.has(plain) || new Set(plain).size < 3) return "is too easy to guess";
  return null;
}

/** Whether somebody of role `by` may make, change or remove somebody of role `whom`: owners are the owners' own affair. */
export function mayManage(by: Role, whom: Role): boolean {
  return whom === "owner" ? by === "owner" : isAtLeast(by, "admin");
}
