/** The SMTP check: reads the greeting and extensions of a mail server, with an optional login. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusalError, refusalReasons } from "../protocols/mail.ts";

/** Up when the server sends a greeting and accepts EHLO, and the login if a user is set (RFC 5321, RFC 4954). */
export const checkSmtp = checkMail({
  async readGreeting(wire) {
    const { code, text } = await readReply(wire);
    if (code !== 220) throw refusalError(`The server greeted with ${code}, expected 220.`, text);
    return text.replaceAll("\n", " ");
  },
  async readCapabilities(wire) {
    // Address literal, for clients without a host name (RFC 5321 §4.1.4).
    const { code, text } = await sendCommand(wire, "EHLO [127.0.0.1]");
    if (code !== 250)
      throw refusalError(`The server responded to EHLO with ${code}, expected 250.`, text);
    return text;
  },
  async startTls(wire) {
    const { code, text } = await sendCommand(wire, "STARTTLS");
    if (code !== 220) throw refusalError(refusalReasons.noTls, text);
  },
  async signIn(wire, { username, password }, offered) {
    const mechanisms = /^AUTH[ =](.*)$/im.exec(offered)?.[1]?.toUpperCase().split(" ") ?? [];
    const mechanism = ["PLAIN", "LOGIN"].find((name) => mechanisms.includes(name));
    if (mechanism === undefined)
      throw new TargetFailure("The server offers no sign-in by password over this connection.");
    const both = encodeBase64(`\0${username}\0${password}`);
    const [first = "", ...others] =
      mechanism === "PLAIN"
        ? [`AUTH PLAIN ${both}`]
        : ["AUTH LOGIN", encodeBase64(username), encodeBase64(password)];
    let response = await sendCommand(wire, first);
    for (const line of others) if (response.code === 334) response = await sendCommand(wire, line);
    if (response.code !== 235)
      throw refusalError(
        refusals[response.code] ?? `The server responded to AUTH with ${response.code}.`,
        response.text,
        password,
        both,
        encodeBase64(password),
      );
  },
  leave: "QUIT",
});

const encodeBase64 = (text: string) => Buffer.from(text).toString("base64");

/** Failures by reply code: https://www.rfc-editor.org/rfc/rfc4954#section-6 */
const refusals: Record<number, string> = {
  454: refusalReasons.notNow,
  530: refusalReasons.onlySecured,
  534: refusalReasons.onlySecured,
  535: refusalReasons.refused,
  538: refusalReasons.onlySecured,
};

function sendCommand(wire: Wire, command: string) {
  wire.write(`${command}\r\n`);
  return readReply(wire);
}

/** Reads the next response: its code and the text of all its lines. */
async function readReply(wire: Wire): Promise<{ code: number; text: string }> {
  const texts: string[] = [];
  for (;;) {
    const line = (await wire.readUntil("\r\n")).toString();
    const [, code, mark, text = ""] = /^([2-5]\d\d)(?:([ -])(.*))?$/.exec(line) ?? [];
    if (code === undefined) throw new TargetFailure("The response is not valid SMTP.");
    texts.push(text);
    if (mark !== "-") return { code: Number(code), text: texts.join("\n") };
  }
}
