/** Sends alerts to a syslog server over UDP, TCP or TLS. */
import { version } from "../../core/assets.ts";
import { runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import { talkOverDatagrams } from "../../core/outgoing/datagrams.ts";
import { connectToTarget } from "../../monitoring/checks/protocols/conversation.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { syslogFacilities } from "../channels/kinds/programs-schema.ts";
import { delivered, type Provider, type Verdict } from "../provider.ts";
import type { Message, Tone } from "../sending/messages.ts";
import { countBytes, listLinks, renderWithin } from "./formatting.ts";

/** Receivers should accept messages of this length: https://www.rfc-editor.org/rfc/rfc5424#section-6.1 */
const maxBytes = 2_048;
/** Time in which the server can reject the message. It confirms no success. */
const refusalWaitMs = 300;
/** Wait until a connection is closed. */
const closeMs = 2_000;

/** Sends one line: https://www.rfc-editor.org/rfc/rfc5424 */
export const syslog: Provider<"syslog"> = {
  digests: true,
  deliver: (settings, message, context) =>
    runWithTimeout(context, (outgoing) => {
      const line = renderLine(settings, message);
      return settings.transport === "udp"
        ? sendDatagram(settings, line, outgoing)
        : sendOverConnection(settings, line, outgoing);
    }),
};

type Settings = ChannelSettings<"syslog">;

/** Over UDP, one message per datagram: https://www.rfc-editor.org/rfc/rfc5426 */
async function sendDatagram(
  { host, port }: Settings,
  line: Uint8Array,
  context: OutgoingContext,
): Promise<Verdict> {
  const addresses = await context.addressesOf(host, port);
  await talkOverDatagrams(addresses, port, context, async (socket) => {
    const refused = socket.read(() => {});
    socket.send(line);
    await Promise.race([refused, Bun.sleep(refusalWaitMs)]);
  });
  return { outcome: "delivered", detail: "Sent over UDP, which confirms nothing." };
}

/** Framing by octet counting: https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1 and rfc5425#section-4.3 */
async function sendOverConnection(
  { host, port, transport }: Settings,
  line: Uint8Array,
  context: OutgoingContext,
): Promise<Verdict> {
  const connection = await connectToTarget({ host, port, tls: transport === "tls" }, context);
  const ended = connection.read(() => {});
  connection.write(Buffer.concat([Buffer.from(`${line.length} `), line]));
  if (await Promise.race([ended.then(() => true), Bun.sleep(refusalWaitMs)]))
    throw new TargetFailure("The server closed the connection.");
  connection.close();
  // Otherwise the end of the attempt would discard data that is not sent yet.
  await Promise.race([ended.catch(() => {}), Bun.sleep(closeMs)]);
  return delivered;
}

/** Codes of severities: error, warning, notice and informational. */
const severities: Record<Tone, number> = { down: 3, degraded: 4, up: 5, info: 6 };

function renderLine({ facility }: Settings, message: Message): Buffer {
  const { tone, at, type, title, lines, url } = message;
  const priority = syslogFacilities.indexOf(facility) * 8 + severities[tone];
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") || "-";
  const head = `<${priority}>1 ${at} ${host} signalbox - ${type} [origin software="Signalbox" swVersion="${version}"] `;
  const text = renderWithin(
    maxBytes - countBytes(head) - 3,
    lines,
    (portion) =>
      [title, ...portion, ...listLinks(message)].filter((line) => line !== "").join(" | "),
    countBytes,
  )
    // A server can write control characters to its log, and a terminal obeys them (§6.4).
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  // UTF-8 needs a byte order mark (§6.4), which ASCII must not have to be read by older servers.
  const mark = /[^\x20-\x7e]/.test(text) ? "\ufeff" : "";
  return Buffer.from(head + mark + text);
}
