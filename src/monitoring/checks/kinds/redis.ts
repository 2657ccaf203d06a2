import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/wire.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../conversation.ts";

/** Up when PING is answered, after signing in where there is a password. https://redis.io/docs/latest/develop/reference/protocol-spec/ */
export const checkRedis: CheckKind<"redis"> = async (settings, context) =>
  converse(settings, context, async (wire) => {
    const { username, password } = settings;
    if (password !== null)
      await ask(wire, username === null ? ["AUTH", password] : ["AUTH", username, password]);
    if ((await ask(wire, ["PING"])) !== "PONG") throw notRedis();
    return "Answered PING";
  });

const notRedis = () => new TargetFailure("The answer is not one of Redis.");

/** By the first word of an error. */
const errors: Record<string, string> = {
  NOAUTH: "The server asks for a password.",
  WRONGPASS: "The server refused the password.",
  NOPERM: "The user may not use PING.",
  LOADING: "The server is still loading its data.",
  MASTERDOWN: "The server has lost its master.",
  BUSY: "The server is busy with a script.",
};

/** The answer to a command, where it is a simple string. */
async function ask(wire: Wire, words: readonly string[]): Promise<string> {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  wire.write(`*${words.length}\r\n${parts.join("")}`);
  const [mark] = await wire.read(1);
  if (mark !== 0x2b && mark !== 0x2d) throw notRedis();
  const answer = (await wire.until("\r\n")).toString();
  if (mark === 0x2b) return answer;
  const [code = ""] = answer.split(" ", 1);
  const refused = code === "ERR" && words[0] === "AUTH" ? errors["WRONGPASS"] : errors[code];
  throw new TargetFailure(refused ?? `The server answered ${words[0]} with an error.`);
}
