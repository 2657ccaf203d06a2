import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusal, sentences } from "../protocols/mail.ts";

/** Up when the server sends a greeting, and accepts the login if a user is set (RFC 1939, RFC 2595). */
export const checkPop3 = checkMail({
  async greeted(wire) {
    const { isOk, text } = await answered(wire);
    if (!isOk) throw refusal(sentences.turnedAway, text);
    return text;
  },
  async offered(wire) {
    const { isOk } = await ask(wire, "CAPA");
    const lines: string[] = [];
    // Older servers do not support CAPA.
    while (isOk && lines.at(-1) !== ".") lines.push((await wire.until("\r\n")).toString());
    return lines.join("\n");
  },
  async startTls(wire) {
    const { isOk, text } = await ask(wire, "STLS");
    if (!isOk) throw refusal(sentences.noTls, text);
  },
  async signIn(wire, { username, password }) {
    const name = await ask(wire, `USER ${username}`);
    if (!name.isOk) throw refusal(sentences.noUser, name.text, password);
    const { isOk, text } = await ask(wire, `PASS ${password}`);
    if (isOk) return;
    const code = /^ ?\[([A-Z/-]+)/i.exec(text)?.[1]?.toUpperCase() ?? "";
    throw refusal(refusals[code] ?? sentences.refused, text, password);
  },
  leave: "QUIT",
});

/** Failures by response code: https://www.rfc-editor.org/rfc/rfc2449#section-8, https://www.rfc-editor.org/rfc/rfc3206#section-4 */
const refusals: Record<string, string> = {
  "IN-USE": sentences.inUse,
  "LOGIN-DELAY": "The server limits how often the user may sign in: the interval is too short.",
  "SYS/TEMP": sentences.notNow,
  "SYS/PERM": sentences.notNow,
};

function ask(wire: Wire, command: string) {
  wire.write(`${command}\r\n`);
  return answered(wire);
}

async function answered(wire: Wire): Promise<{ isOk: boolean; text: string }> {
  const line = (await wire.until("\r\n")).toString();
  const [, mark, text = ""] = /^(\+OK|-ERR)\b(.*)$/.exec(line) ?? [];
  if (mark === undefined) throw new TargetFailure("The answer is not valid POP3.");
  return { isOk: mark === "+OK", text };
}
