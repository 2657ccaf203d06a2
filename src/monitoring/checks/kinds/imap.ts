/** The IMAP check: reads the greeting and capabilities of a mail server, with an optional login. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusal, sentences } from "../protocols/mail.ts";

/** Up when the server sends a greeting and its capabilities, and accepts the login if a user is set (RFC 9051). */
export const checkImap = checkMail({
  async greeted(wire) {
    const [, state, text = ""] = /^\* (OK|PREAUTH|BYE)\b(.*)$/i.exec(await nextLine(wire)) ?? [];
    if (state === undefined) throw notImap();
    if (state.toUpperCase() === "BYE") throw refusal(sentences.turnedAway, text);
    return text;
  },
  async offered(wire) {
    const { status, untagged } = await ask(wire, "CAPABILITY");
    const told = untagged.find((line) => /^CAPABILITY /i.test(line));
    if (status !== "OK" || told === undefined) throw notImap();
    return told;
  },
  async startTls(wire) {
    const { status, text } = await ask(wire, "STARTTLS");
    if (status !== "OK") throw refusal(sentences.noTls, text);
  },
  async signIn(wire, { username, password }, offered) {
    if (/ LOGINDISABLED\b/i.test(offered)) throw new TargetFailure(sentences.onlySecured);
    // Sends user name and password as literals, which can contain any character.
    const [name, secret] = [Buffer.from(username), Buffer.from(password)];
    let answer = await ask(wire, `LOGIN {${name.length}}`);
    for (const part of [`${username} {${secret.length}}`, password])
      if (answer.status === "+") answer = await say(wire, part, "LOGIN");
    if (answer.status === "OK") return;
    const code = /^ ?\[([A-Z]+)/i.exec(answer.text)?.[1]?.toUpperCase() ?? "";
    throw refusal(refusals[code] ?? sentences.refused, answer.text, password);
  },
  leave: "LOGOUT LOGOUT",
});

const notImap = () => new TargetFailure("The answer is not valid IMAP.");

/** Failures by response code: https://www.rfc-editor.org/rfc/rfc5530#section-3 */
const refusals: Record<string, string> = {
  PRIVACYREQUIRED: sentences.onlySecured,
  UNAVAILABLE: sentences.notNow,
  INUSE: sentences.inUse,
};

const nextLine = async (wire: Wire) => (await wire.until("\r\n")).toString();

/** Sends a command and uses its name as the tag. */
const ask = (wire: Wire, command: string) =>
  say(wire, `${command.split(" ")[0]} ${command}`, command.split(" ")[0] ?? "");

type Answer = { status: "OK" | "NO" | "BAD" | "+"; text: string; untagged: string[] };

/** Sends a command or the next part of a command, and reads the response. */
async function say(wire: Wire, line: string, tag: string): Promise<Answer> {
  wire.write(`${line}\r\n`);
  const untagged: string[] = [];
  for (;;) {
    const answer = await nextLine(wire);
    const [, status, text = ""] =
      /^(OK|NO|BAD)\b(.*)$/i.exec(
        answer.startsWith(`${tag} `) ? answer.slice(tag.length + 1) : "",
      ) ?? [];
    if (status !== undefined)
      return { status: status.toUpperCase() as Answer["status"], text, untagged };
    if (answer.startsWith("+")) return { status: "+", text: "", untagged };
    if (/^\* BYE\b/i.test(answer)) throw refusal(sentences.turnedAway, answer.slice(5));
    if (!answer.startsWith("* ")) throw notImap();
    untagged.push(answer.slice(2));
  }
}
