/** The game server check: queries Source-engine and Minecraft servers for their number of players. */
import { toAsciiName } from "../../../core/security/destinations.ts";
import { queryByDatagram, type Datagrams } from "../../../core/outgoing/datagrams.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseJsonBody } from "../../../core/outgoing/http/decoded-body.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import { type CheckContext, type CheckKind, type CheckResult, measureElapsedMs } from "../check.ts";
import { converse } from "../protocols/conversation.ts";

type Settings = MonitorSettings<"game">;
type Status = DetailsOf<"game"> & { players: number; maxPlayers: number };

/** Up when the server reports its number of players. */
export const checkGame: CheckKind<"game"> = (settings, context) =>
  settings.protocol === "minecraft"
    ? checkMinecraft(settings, context)
    : checkSource(settings, context);

const packetPrefix = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const statusQuery = Buffer.concat([packetPrefix, Buffer.from("TSource Engine Query\0")]);
const maxChallenges = 10;

/** Queries a Source-engine server (A2S_INFO): https://developer.valvesoftware.com/wiki/Server_queries */
async function checkSource(
  { host, port }: Settings,
  context: CheckContext,
): Promise<CheckResult<DetailsOf<"game">>> {
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { details, latencyMs } = await queryByDatagram(
    addresses,
    port,
    context,
    createSourceConversation,
  );
  const message = `${formatPlayers(details)}, responded in ${latencyMs} ms.`;
  return { status: "up", message, latencyMs, details };
}

/** Queries the status. The server can first send a challenge, which the next query must repeat. */
function createSourceConversation(send: Datagrams["send"]) {
  let challenge = Buffer.alloc(0);
  let challenges = 0;
  let startedAt = 0;
  const sendQuestion = () => {
    startedAt = performance.now();
    return Buffer.concat([statusQuery, challenge]);
  };
  return {
    buildQuery: sendQuestion,
    parseResponse(response: Buffer) {
      const kind = String.fromCharCode(response[4] ?? 0);
      const isSimple = response.subarray(0, 4).equals(packetPrefix);
      if (isSimple && kind === "A" && response.length >= 9) {
        if (++challenges > maxChallenges)
          throw new TargetFailure("The server does not accept the response to its challenge.");
        challenge = Buffer.from(response.subarray(5, 9));
        send(sendQuestion());
        return null;
      }
      const details = isSimple ? parseStatus(response, kind) : null;
      if (details === null) throw new TargetFailure("The response is not valid for a game server.");
      return { details, latencyMs: measureElapsedMs(startedAt) };
    },
  };
}

/**
 * Reads the status from an S2A_INFO packet: texts, ID of the game, players, maximum players. GoldSrc packets have an
 * address before the texts and no ID.
 */
function parseStatus(response: Buffer, kind: string): Status | null {
  if (kind !== "I" && kind !== "m") return null;
  const isSource = kind === "I";
  let at = isSource ? 6 : 5;
  const readText = () => {
    const end = response.indexOf(0, at);
    if (end === -1) return null;
    const found = response.toString("utf8", at, end);
    at = end + 1;
    return found;
  };
  if (!isSource) readText();
  const [name, map] = [readText(), readText()];
  readText();
  if (readText() === null) return null;
  if (isSource) at += 2;
  const [players, maxPlayers] = response.subarray(at, at + 2);
  if (players === undefined || maxPlayers === undefined) return null;
  // Skips the fields before the version: both player counts, bots, server type, system, password, anti-cheat.
  at += 7;
  return { name, players, maxPlayers, map, ...(isSource && { version: readText() }) };
}

const formatPlayers = ({ players, maxPlayers }: Status) => `${players} of ${maxPlayers} players`;

/** Maximum response size. Responses can contain an icon of 64 × 64 pixels. */
const maxBytes = 128 * 1024;

/** Queries a Minecraft server (Java Edition): https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping */
function checkMinecraft(
  settings: Settings,
  context: CheckContext,
): Promise<CheckResult<DetailsOf<"game">>> {
  const exchangeStatus = async (wire: Wire) => {
    const name = Buffer.from(toAsciiName(settings.host));
    const port = Buffer.alloc(2);
    port.writeUInt16BE(settings.port);
    // Version -1: the client only queries the status and does not join.
    const noVersion = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]);
    const hello = [
      Buffer.from([0]),
      noVersion,
      encodeVarint(name.length),
      name,
      port,
      Buffer.from([1]),
    ];
    wire.write(Buffer.concat([encodePacket(Buffer.concat(hello)), encodePacket(Buffer.from([0]))]));
    await readVarint(wire);
    if ((await readVarint(wire)) !== 0) throw notMinecraftError();
    const status = parseJsonBody(await wire.read(await readVarint(wire)));
    const { players, version } = (status ?? {}) as {
      players?: { online?: unknown; max?: unknown };
      version?: { name?: unknown } | null;
    };
    const { online, max } = players ?? {};
    if (!Number.isSafeInteger(online) || !Number.isSafeInteger(max)) throw notMinecraftError();
    const details = {
      players: online as number,
      maxPlayers: max as number,
      version: typeof version?.name === "string" ? version.name : null,
    };
    return { words: `${formatPlayers(details)}, responded`, details };
  };
  return converse(settings, context, exchangeStatus, { maxBytes });
}

const notMinecraftError = () =>
  new TargetFailure("The response is not valid for a Minecraft server.");

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

const encodePacket = (body: Buffer) => Buffer.concat([encodeVarint(body.length), body]);

async function readVarint(wire: Wire): Promise<number> {
  let value = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const [byte = 0] = await wire.read(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw notMinecraftError();
}
