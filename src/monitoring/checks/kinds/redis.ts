/** The Redis check: sends PING, with an optional login, and reads the server's version and role. */
import { createLookup } from "../../../core/collections/objects.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { refusalError } from "../protocols/refusal-error.ts";

/** Up when the server responds to PING, after a login if a username or a password is set. https://redis.io/docs/latest/develop/reference/protocol-spec/ */
export const checkRedis: CheckKind<"redis"> = async (settings, context) =>
  converse(
    settings,
    context,
    async (wire) => {
      const { username, password } = settings;
      // Redis accepts any password for a user without one (`nopass`).
      const secrets = password === null ? [] : [password];
      if (username !== null) await sendCommand(wire, ["AUTH", username, password ?? ""], secrets);
      else if (password !== null) await sendCommand(wire, ["AUTH", password], secrets);
      if ((await sendCommand(wire, ["PING"], secrets)) !== "PONG") throw notRedisError();
      return "Answered PING";
    },
    { details: readDetails },
  );

const maxFields = 20;

/** Reads the server's details from the response to HELLO, a list of names and values. Redis before 6 has no HELLO. */
async function readDetails(wire: Wire): Promise<DetailsOf<"redis">> {
  writeCommand(wire, ["HELLO"]);
  const count = Number(/^\*(\d{1,3})$/.exec(await readLine(wire))?.[1] ?? 0);
  const fields = new Map<string, string>();
  for (let readBytes = 0; readBytes < Math.min(count / 2, maxFields); readBytes++) {
    const name = await readValue(wire);
    // The modules are a nested list in the last field.
    if (name === "modules") break;
    fields.set(name, await readValue(wire));
  }
  const getField = (name: string) => fields.get(name) ?? null;
  return { version: getField("version"), role: getField("role"), mode: getField("mode") };
}

const readLine = async (wire: Wire) => (await wire.readUntil("\r\n")).toString();

async function readValue(wire: Wire): Promise<string> {
  const head = await readLine(wire);
  if (!head.startsWith("$")) return head.slice(1);
  const bytes = await wire.read(Number(head.slice(1)) + 2);
  return bytes.toString("utf8", 0, bytes.length - 2);
}

const notRedisError = () => new TargetFailure("The response is not valid for Redis.");

/** Failures by the first word of an error response. */
const errors: Record<string, string> = createLookup({
  NOAUTH: "The server requires a password.",
  WRONGPASS: "The server rejected the password.",
  NOPERM: "The user may not use PING.",
  LOADING: "The server is still loading its data.",
  MASTERDOWN: "The server has lost its master.",
  BUSY: "The server is busy with a script.",
  DENIED: "The server is in protected mode: it accepts only connections from its own machine.",
  MISCONF: "The server can't save its data to disk.",
  CLUSTERDOWN: "The cluster is down.",
});

function writeCommand(wire: Wire, words: readonly string[]) {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  wire.write(`*${words.length}\r\n${parts.join("")}`);
}

/** Sends a command and reads a simple string as its response. Throws TargetFailure. */
async function sendCommand(
  wire: Wire,
  words: readonly string[],
  secrets: readonly string[],
): Promise<string> {
  writeCommand(wire, words);
  const [mark] = await wire.read(1);
  if (mark !== 0x2b && mark !== 0x2d) throw notRedisError();
  const response = await readLine(wire);
  if (mark === 0x2b) return response;
  const [code = ""] = response.split(" ", 1);
  const refused = code === "ERR" && words[0] === "AUTH" ? errors["WRONGPASS"] : errors[code];
  throw refusalError(
    refused ?? `The server responded to ${words[0]} with an error.`,
    response,
    ...secrets,
  );
}
