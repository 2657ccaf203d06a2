import { createLookup } from "../../../core/collections/objects.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusalReasons } from "../protocols/mail.ts";
import { refusalError } from "../protocols/refusal-error.ts";

/** Up when the server sends a greeting, and accepts the login if a user is set (RFC 1939, RFC 2595). */
export const checkPop3 = checkMail({
  async readGreeting(wire) {
    const { isOk, text } = await readReply(wire);
    if (!isOk) throw refusalError(refusalReasons.turnedAway, text);
    return text;
  },
  async readCapabilities(wire) {
    const { isOk } = await sendCommand(wire, "CAPA");
    const lines: string[] = [];
    // Older servers do not support CAPA.
    while (isOk && lines.at(-1) !== ".") lines.push((await wire.readUntil("\r\n")).toString());
    return lines.join("\n");
  },
  async startTls(wire) {
    const { isOk, text } = await sendCommand(wire, "STLS");
    if (!isOk) throw refusalError(refusalReasons.noTls, text);
  },
  async signIn(wire, { username, password }) {
    const name = await sendCommand(wire, `USER ${username}`);
    if (!name.isOk) throw refusalError(refusalReasons.noUser, name.text, password);
    const { isOk, text } = await sendCommand(wire, `PASS ${password}`);
    if (isOk) return;
    const code = /^ ?\[([A-Z/-]+)/i.exec(text)?.[1]?.toUpperCase() ?? "";
    throw refusalError(refusals[code] ?? refusalReasons.refused, text, password);
  },
  leave: "QUIT",
});

/** Failures by response code: https://www.rfc-editor.org/rfc/rfc2449#section-8, https://www.rfc-editor.org/rfc/rfc3206#section-4 */
const refusals: Record<string, string> = createLookup({
  "IN-USE": refusalReasons.inUse,
  "LOGIN-DELAY": "The server limits how often the user may sign in: the interval is too short.",
  "SYS/TEMP": refusalReasons.notNow,
  "SYS/PERM": refusalReasons.notNow,
});

function sendCommand(wire: Wire, command: string) {
  wire.write(`${command}\r\n`);
  return readReply(wire);
}

async function readReply(wire: Wire): Promise<{ isOk: boolean; text: string }> {
  const line = (await wire.readUntil("\r\n")).toString();
  const [, mark, text = ""] = /^(\+OK|-ERR)\b(.*)$/.exec(line) ?? [];
  if (mark === undefined) throw new TargetFailure("The response is not valid POP3.");
  return { isOk: mark === "+OK", text };
}
