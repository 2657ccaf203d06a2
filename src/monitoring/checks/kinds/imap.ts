/** The IMAP check: reads the greeting and capabilities of a mail server, with an optional login. */
import { createLookup } from "../../../core/collections/objects.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusalReasons } from "../protocols/mail.ts";
import { refusalError } from "../protocols/refusal-error.ts";

/** Up when the server sends a greeting and its capabilities, and accepts the login if a user is set (RFC 9051). */
export const checkImap = checkMail({
  async readGreeting(wire) {
    const [, state, text = ""] = /^\* (OK|PREAUTH|BYE)\b(.*)$/i.exec(await readLine(wire)) ?? [];
    if (state === undefined) throw notImapError();
    if (state.toUpperCase() === "BYE") throw refusalError(refusalReasons.turnedAway, text);
    return text;
  },
  async readCapabilities(wire) {
    const { status, untagged } = await sendCommand(wire, "CAPABILITY");
    const capabilityLine = untagged.find((line) => /^CAPABILITY /i.test(line));
    if (status !== "OK" || capabilityLine === undefined) throw notImapError();
    return capabilityLine;
  },
  async startTls(wire) {
    const { status, text } = await sendCommand(wire, "STARTTLS");
    if (status !== "OK") throw refusalError(refusalReasons.noTls, text);
  },
  async signIn(wire, { username, password }, offered) {
    if (/ LOGINDISABLED\b/i.test(offered)) throw new TargetFailure(refusalReasons.onlySecured);
    // Sends user name and password as literals, which can contain any character.
    const [name, secret] = [Buffer.from(username), Buffer.from(password)];
    let response = await sendCommand(wire, `LOGIN {${name.length}}`);
    for (const part of [`${username} {${secret.length}}`, password])
      if (response.status === "+") response = await sendLine(wire, part, "LOGIN");
    if (response.status === "OK") return;
    const code = /^ ?\[([A-Z]+)/i.exec(response.text)?.[1]?.toUpperCase() ?? "";
    throw refusalError(refusals[code] ?? refusalReasons.refused, response.text, password);
  },
  leave: "LOGOUT LOGOUT",
});

const notImapError = () => new TargetFailure("The response is not valid IMAP.");

/** Failures by response code: https://www.rfc-editor.org/rfc/rfc5530#section-3 */
const refusals: Record<string, string> = createLookup({
  PRIVACYREQUIRED: refusalReasons.onlySecured,
  UNAVAILABLE: refusalReasons.notNow,
  INUSE: refusalReasons.inUse,
});

const readLine = async (wire: Wire) => (await wire.readUntil("\r\n")).toString();

/** Sends a command and uses its name as the tag. */
const sendCommand = (wire: Wire, command: string) =>
  sendLine(wire, `${command.split(" ")[0]} ${command}`, command.split(" ")[0] ?? "");

type Reply = { status: "OK" | "NO" | "BAD" | "+"; text: string; untagged: string[] };

/** Sends a command or the next part of a command, and reads the response. */
async function sendLine(wire: Wire, line: string, tag: string): Promise<Reply> {
  wire.write(`${line}\r\n`);
  const untagged: string[] = [];
  for (;;) {
    const response = await readLine(wire);
    const [, status, text = ""] =
      /^(OK|NO|BAD)\b(.*)$/i.exec(
        response.startsWith(`${tag} `) ? response.slice(tag.length + 1) : "",
      ) ?? [];
    if (status !== undefined)
      return { status: status.toUpperCase() as Reply["status"], text, untagged };
    if (response.startsWith("+")) return { status: "+", text: "", untagged };
    if (/^\* BYE\b/i.test(response))
      throw refusalError(refusalReasons.turnedAway, response.slice(5));
    if (!response.startsWith("* ")) throw notImapError();
    untagged.push(response.slice(2));
  }
}
