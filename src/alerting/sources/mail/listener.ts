/** The SMTP listener of `serve --smtp-port`. It accepts mails for alert sources and jobs, and relays nothing. */
import type { AddressInfo } from "node:net";
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from "smtp-server";
import { AppError } from "../../../core/errors.ts";
import { mailBounds } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import { networkOf } from "../../../core/security/client-network.ts";
import type { NetworkLimit } from "../../../http/access/rate-limit.ts";
import type { Tls } from "../../../http/listener.ts";
import { mailStart } from "./message.ts";
import type { MailMetrics, RejectionReason } from "./metrics.ts";
import {
  findRecipient,
  idOf,
  type MailContext,
  type MailRecipient,
  receiveMail,
} from "./receive.ts";

type Dependencies = {
  log: Log;
  context: MailContext;
  /** Limit of connections per client network and minute. */
  connections: NetworkLimit;
  metrics: MailMetrics;
};

/** An open connection. */
type Session = {
  network: string;
  closesAt: number;
  /** Recipients by address. */
  recipients: Map<string, MailRecipient>;
  mails: number;
  /** Bytes of its mails; all other bytes are commands. */
  mailBytes: number;
  isReceiving: boolean;
};

type Connection = SMTPServer["connections"] extends Iterable<infer One> ? One : never;

/** Milliseconds between two examinations of all connections. */
const watchIntervalMs = 1_000;
/** Port on which connections start with TLS (RFC 8314). */
const implicitTlsPort = 465;

/** An error that the library sends to the client, with an enhanced status (RFC 3463). */
const createReply = (
  reason: RejectionReason,
  responseCode: number,
  status: string,
  message: string,
) => Object.assign(new Error(`${status} ${message}`), { responseCode, reason });
type Reply = ReturnType<typeof createReply>;

/** Rejections that are counted when they are sent, because the library sends them for reasons of its own. */
const repliesOfLibrary: Record<number, RejectionReason> = { 452: "too_many", 552: "too_large" };

/** Accepts addresses without brackets and senders without a host, as Postfix does by default: some devices send them. */
function acceptBareAddresses(connection: Connection) {
  const parse = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) =>
    parse(
      name,
      String(command)
        .replace(/^([^:]*:\s*)([^\s<>]+)(?=\s|$)/, "$1<$2>")
        .replace(/^(mail from:\s*<[^\s<>@]+)>/i, "$1@localhost>"),
    );
}

export class MailListener {
  readonly #dependencies: Dependencies;
  readonly #sessions = new Map<string, Session>();
  #server: SMTPServer | null = null;
  #watch: ReturnType<typeof setInterval> | null = null;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Opens the port. Throws an Error with the next step if it is unusable. */
  async open(host: string, port: number, tls: Tls | null): Promise<void> {
    const server = new SMTPServer(this.#buildOptions(tls, port === implicitTlsPort));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(port, host, resolve);
    try {
      await promise;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(
        `Can't listen on ${host}, port ${port}, for mail: ${code ?? message}. Choose another --smtp-port.`,
        { cause: error },
      );
    }
    server.off("error", reject);
    // Errors of single connections, such as failed TLS handshakes.
    server.on("error", ({ message }) =>
      this.#dependencies.log.debug?.("a mail connection failed", { cause: message }),
    );
    this.#server = server;
    this.#dependencies.metrics.start(() => this.#sessions.size);
    this.#watch = setInterval(() => this.#closeExcessive(), watchIntervalMs);
  }

  get number(): number {
    const address = this.#server?.server.address() as AddressInfo | null | undefined;
    return address?.port ?? 0;
  }

  /** Uses this certificate for new connections. */
  useTls(tls: Tls) {
    this.#server?.updateSecureContext(tls);
  }

  /** Stops accepting connections, and waits for mails under way. */
  async stop(): Promise<void> {
    clearInterval(this.#watch ?? undefined);
    const server = this.#server;
    if (server === null) return;
    for (const connection of server.connections)
      if (this.#sessions.get(connection.id)?.isReceiving !== true) {
        connection.send(421, "4.3.2 Signalbox stops");
        connection.close();
      }
    await new Promise<void>((resolve) => server.close(resolve));
  }

  #buildOptions(tls: Tls | null, isImplicit: boolean): SMTPServerOptions {
    return {
      name: "signalbox",
      banner: "Signalbox",
      disableReverseLookup: true,
      logger: false,
      authOptional: true,
      disabledCommands: tls === null ? ["AUTH", "STARTTLS"] : ["AUTH"],
      secure: tls !== null && isImplicit,
      ...tls,
      size: mailBounds.size.value,
      lenientAddressParsing: true,
      maxRecipients: mailBounds.recipients.value,
      // A backstop: connections are admitted 100 ms after they open.
      maxClients: 2 * mailBounds.connections.value,
      socketTimeout: 60_000,
      closeTimeout: 5_000,
      onConnect: (session, done) => {
        const rejection = this.#admit(session);
        this.#dependencies.metrics.countConnection(rejection === null);
        const open = [...(this.#server?.connections ?? [])];
        const connection = open.find(({ id }) => id === session.id);
        if (connection !== undefined) {
          this.#countReplies(connection);
          acceptBareAddresses(connection);
        }
        done(rejection);
      },
      onClose: ({ id }) => this.#sessions.delete(id),
      onMailFrom: (_address, { id }, done) => {
        this.#sessions.get(id)?.recipients.clear();
        done();
      },
      onRcptTo: ({ address }, session, done) =>
        void this.#acceptRecipient(address, session).then((rejection) => {
          this.#countRejected(rejection);
          done(rejection);
        }),
      onData: (stream, session, done) =>
        void this.#acceptMail(stream, session).then((rejection) => {
          this.#countRejected(rejection);
          if (rejection !== null) return done(rejection);
          this.#dependencies.metrics.countAccepted();
          done(null, "2.0.0 Stored");
        }),
    };
  }

  #countRejected(rejection: Reply | null) {
    if (rejection !== null && !Object.hasOwn(repliesOfLibrary, rejection.responseCode))
      this.#dependencies.metrics.countRejected(rejection.reason);
  }

  /** Counts the replies that the library sends, too: for an announced size, and for further recipients. */
  #countReplies(connection: Connection) {
    const send = connection.send.bind(connection);
    connection.send = (code, ...rest) => {
      const reason = repliesOfLibrary[code];
      if (reason !== undefined) this.#dependencies.metrics.countRejected(reason);
      return send(code, ...rest);
    };
  }

  /** Registers a connection. Returns the reply that closes it, if its network has too many. */
  #admit({ id, remoteAddress }: SMTPServerSession): Reply | null {
    if (this.#sessions.size >= mailBounds.connections.value)
      return createReply("too_many", 421, "4.7.0", "Too many connections, try again later");
    const network = networkOf(remoteAddress);
    const open = [...this.#sessions.values()].filter((one) => one.network === network).length;
    const isFull = open >= mailBounds.connectionsPerNetwork.value;
    if (isFull || this.#dependencies.connections.take(remoteAddress) > 0) {
      const message = "Too many connections from this network, try again later";
      return createReply("too_many", 421, "4.7.0", message);
    }
    this.#sessions.set(id, {
      network,
      closesAt: performance.now() + mailBounds.time.value * 1_000,
      recipients: new Map(),
      mails: 0,
      mailBytes: 0,
      isReceiving: false,
    });
    return null;
  }

  /** Closes connections that last too long, or send too many commands. */
  #closeExcessive() {
    for (const connection of this.#server?.connections ?? []) {
      const session = this.#sessions.get(connection.id);
      if (session === undefined) continue;
      const commandBytes = connection._socket.bytesRead - session.mailBytes;
      const isFlood = !session.isReceiving && commandBytes > mailBounds.commands.value;
      if (performance.now() < session.closesAt && !isFlood) continue;
      connection.send(421, "4.7.0 Too long or too many commands");
      connection.close();
    }
  }

  async #acceptRecipient(address: string, { id, remoteAddress }: SMTPServerSession) {
    try {
      const recipient = await findRecipient(address, remoteAddress, this.#dependencies.context);
      this.#sessions.get(id)?.recipients.set(address, recipient);
      return null;
    } catch (error) {
      return toReply(error, this.#dependencies.log);
    }
  }

  /** Stores a mail. Returns the reply that rejects it; null if it is stored. */
  async #acceptMail(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const { id, envelope, remoteAddress } = session;
    const known = this.#sessions.get(id);
    if (known === undefined)
      return createReply("interrupted", 421, "4.3.2", "The connection is closed");
    const countBytes = () =>
      [...(this.#server?.connections ?? [])].find((one) => one.id === id)?._socket.bytesRead ?? 0;
    const before = countBytes();
    known.isReceiving = true;
    known.mails += 1;
    try {
      const start = await readStart(stream);
      if (known.mails > mailBounds.mails.value)
        return createReply("too_many", 452, "4.5.3", "Too many mails on this connection");
      const recipients = envelope.rcptTo.flatMap(
        ({ address }) => known.recipients.get(address) ?? [],
      );
      const unique = [...new Map(recipients.map((one) => [idOf(one), one])).values()];
      await receiveMail(start, unique, remoteAddress, this.#dependencies.context);
      return null;
    } catch (error) {
      return toReply(error, this.#dependencies.log);
    } finally {
      known.isReceiving = false;
      known.mailBytes += countBytes() - before;
    }
  }
}

/** Reads a mail to its end, and returns the start of it. */
async function readStart(stream: SMTPServerDataStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    if (size < mailStart) chunks.push(chunk);
    size += chunk.length;
  }
  if (stream.sizeExceeded) throw createReply("too_large", 552, "5.3.4", "This mail is too large");
  return Buffer.concat(chunks);
}

/** A rejection is final only if a repeated mail would be rejected, too. */
function toReply(error: unknown, log: Log): Reply {
  if (error instanceof Error && "reason" in error) return error as Reply;
  if ((error as NodeJS.ErrnoException).code === "ECONNECTION") {
    const message = "The connection was closed before the end of the mail";
    return createReply("interrupted", 421, "4.4.2", message);
  }
  if (!(error instanceof AppError)) {
    log.error("a mail could not be stored", { cause: String(error) });
    return createReply("failed", 451, "4.3.0", "The mail could not be stored, try again later");
  }
  const { code, message } = error;
  if (code === "NOT_FOUND") return createReply("unknown_address", 550, "5.1.1", message);
  if (code === "VALIDATION_ERROR") return createReply("invalid", 554, "5.6.0", message);
  return createReply(code === "RATE_LIMITED" ? "too_many" : "failed", 451, "4.3.0", message);
}
