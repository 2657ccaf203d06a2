/** The SNMP check: reads one object of a device and judges its value by assertions. */
import type dgram from "node:dgram";
import { EventEmitter } from "node:events";
import type { Session, User, Varbind } from "net-snmp";
import { type Datagrams, talkOverDatagrams } from "../../../core/outgoing/datagrams.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { assertAllHold, repeatsSecret } from "../protocols/assertions.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";
import { formatSnmpValue } from "../protocols/snmp-values.ts";

type Settings = Parameters<CheckKind<"snmp">>[0];
type Snmp = typeof import("net-snmp");

/** Up when the device returns the object's value, and the value satisfies the assertions. */
export const checkSnmp: CheckKind<"snmp"> = async (settings, context) => {
  const { host, port, oid, assertions } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const snmp = await import("net-snmp");
  const startedAt = performance.now();
  const varbind = await talkOverDatagrams(addresses, port, context, (socket, signal) =>
    readObject(stripLeadingDot(oid), new SingleTargetSocket(socket), snmp, settings, signal),
  );
  if (snmp.isVarbindError(varbind)) throw new TargetFailure("The device has no such object.");
  const latencyMs = measureElapsedMs(startedAt);
  const text = formatSnmpValue(varbind.type ?? 0, varbind.value);
  await assertAllHold(
    assertions,
    ({ source }) => ({ value: source === "latency" ? latencyMs : text }),
    "The object was read",
    () => listSecrets(settings),
    context,
  );
  const message = `Read the object in ${latencyMs} ms.`;
  const measured = { value: text };
  if (text === "" || repeatsSecret(text, () => listSecrets(settings)))
    return { status: "up", message, latencyMs, measured };
  const value = excerptText(text, 100);
  const fullMessage = `${message.slice(0, -1)}: ${value}.`;
  return {
    status: "up",
    message,
    serverText: fullMessage,
    latencyMs,
    measured,
    details: { value },
  };
};

/** Reads the object from one address. Throws TargetFailure. */
function readObject(
  oid: string,
  socket: SingleTargetSocket,
  snmp: Snmp,
  settings: Settings,
  signal: AbortSignal,
): Promise<Varbind> {
  const { promise, resolve, reject } = Promise.withResolvers<Varbind>();
  socket.on("refused", reject);
  const session = createSession(socket, snmp, settings);
  signal.addEventListener("abort", () => session.close());
  session.on("error", () => reject(notSnmpError()));
  session.get([oid], (error, varbinds) => {
    const [value] = varbinds ?? [];
    if (error === null && value !== undefined && isAbout(value, oid)) resolve(value);
    else reject(error === null ? notSnmpError() : toFailure(error, snmp));
  });
  return promise;
}

/**
 * Whether the value belongs to the requested object. The library misreads some identifiers outside `1.`, so those pass.
 */
const isAbout = (value: Varbind, oid: string) => value.oid === oid || !oid.startsWith("1.");

/** Removes the leading dot that many tools write, because the library rejects it. */
const stripLeadingDot = (oid: string) => oid.replace(/^\./, "");

const notSnmpError = () => new TargetFailure("The response is not valid for SNMP.");

const listSecrets = ({ community, authPassword, privPassword }: Settings) =>
  [community, authPassword, privPassword].filter((secret) => secret !== null);

/**
 * Maximum messages read from a device. A login needs three. A message can make the library derive its keys again, which
 * blocks the event loop for milliseconds.
 */
const maxMessages = 20;

/** Socket for the library. The default socket accepts packets from any address and does not detect a closed port. */
class SingleTargetSocket extends EventEmitter {
  private readonly socket: Datagrams;

  constructor(socket: Datagrams) {
    super();
    this.socket = socket;
    let messages = 0;
    socket
      .read((message) => {
        messages++;
        if (messages <= maxMessages) this.emit("message", message);
        else this.emit("refused", notSnmpError());
      })
      .catch((error: unknown) => this.emit("refused", error));
  }
  send(
    message: Buffer,
    _from: number,
    _length: number,
    _port: number,
    _host: string,
    sent: (error: null) => void,
  ) {
    this.socket.send(message);
    sent(null);
  }
  close() {
    this.emit("close");
  }
  bind() {}
  ref() {}
  unref() {}
}

/** More retries than a check can use. The timeout of the check ends them. */
const retries = 1_000;

function createSession(socket: SingleTargetSocket, snmp: Snmp, settings: Settings): Session {
  const { snmpVersion, community } = settings;
  const dgramModule = { createSocket: () => socket } as unknown as typeof dgram;
  const options = { retries, timeout: 1_000, dgramModule };
  return snmpVersion === "3"
    ? snmp.createV3Session("", buildUser(snmp, settings), options)
    : snmp.createSession("", community ?? "public", {
        ...options,
        version: snmpVersion === "1" ? snmp.Version1 : snmp.Version2c,
      });
}

function buildUser(snmp: Snmp, settings: Settings): User {
  const { username, authProtocol, authPassword, privProtocol, privPassword } = settings;
  const { noAuthNoPriv, authNoPriv, authPriv } = snmp.SecurityLevel;
  const secured = authPassword === null ? noAuthNoPriv : authNoPriv;
  return {
    name: username ?? "",
    level: authPassword !== null && privPassword !== null ? authPriv : secured,
    ...(authPassword !== null && {
      authProtocol: snmp.AuthProtocols[authProtocol],
      authKey: authPassword,
    }),
    ...(privPassword !== null && {
      privProtocol: snmp.PrivProtocols[privProtocol],
      privKey: privPassword,
    }),
  } as User;
}

/** Translates an error of the library, by its status: https://www.rfc-editor.org/rfc/rfc3416#section-3 */
function toFailure(error: Error & { status?: number; code?: number }, snmp: Snmp): TargetFailure {
  const { name, message, status } = error;
  if (name === "RequestFailedError")
    return new TargetFailure(
      status === snmp.ErrorStatus.NoSuchName
        ? "The device has no such object."
        : status === snmp.ErrorStatus.NoAccess || status === snmp.ErrorStatus.AuthorizationError
          ? "The device does not show the object to the user."
          : "The device responded with an error.",
    );
  if (/unknown user/i.test(message)) return new TargetFailure("The device does not know the user.");
  if (/digest|auth/i.test(message))
    return new TargetFailure("The device rejected the authentication password.");
  if (/decrypt/i.test(message))
    return new TargetFailure("The device rejected the privacy password.");
  if (/security level/i.test(message))
    return new TargetFailure("The device requires another security level.");
  return notSnmpError();
}
