/** The SMTP check: reads the greeting and extensions of a mail server, with an optional login. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { checkMail, refusalReasons } from "../protocols/mail.ts";
import { refusalError } from "../protocols/refusal-error.ts";

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
    // A server without extensions (RFC 5321 §3.2).
    if ([500, 501, 502, 504].includes(code)) {
      const response = await sendCommand(wire, "HELO [127.0.0.1]");
      if (response.code === 250) return "";
    }
    if (code !== 250)
      throw refusalError(`The server responded to EHLO with ${code}, expected 250.`, text);
    return text;
  },
  async startTls(wire) {
    const { code, text } = await sendCommand(wire, "STARTTLS");
    // RFC 3207 §4
    if (code === 454) throw refusalError("The server can't start TLS at the moment.", text);
    if (code !== 220) throw refusalError(refusalReasons.noTls, text);
  },
  async signIn(wire, { username, password }, offered) {
    // Old servers list mechanisms in a second line, such as AUTH=LOGIN.
    const mechanisms = Array.from(offered.matchAll(/^AUTH[ =](.*)$/gim), ([, names = ""]) =>
      names.toUpperCase().split(/\s+/),
    ).flat();
    const mechanism = ["PLAIN", "LOGIN"].find((name) => mechanisms.includes(name));
    if (mechanism === undefined)
      throw new TargetFailure("The server offers no sign-in by password over this connection.");
    const plainCredentials = encodeBase64(`\0${username}\0${password}`);
    const plainCommand = `AUTH PLAIN ${plainCredentials}`;
    const [first = "", ...others] =
      mechanism === "LOGIN"
        ? ["AUTH LOGIN", encodeBase64(username), encodeBase64(password)]
        : plainCommand.length <= maxCommand
          ? [plainCommand]
          : ["AUTH PLAIN", plainCredentials];
    let response = await sendCommand(wire, first);
    for (const line of others) if (response.code === 334) response = await sendCommand(wire, line);
    if (response.code !== 235)
      throw refusalError(
        refusals[response.code] ?? `The server responded to AUTH with ${response.code}.`,
        response.text,
        password,
        plainCredentials,
        encodeBase64(password),
      );
  },
  leave: "QUIT",
});

/** Maximum length of a command without its line end (RFC 5321 §4.5.3.1.4). A longer response follows a challenge. */
const maxCommand = 510;

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
