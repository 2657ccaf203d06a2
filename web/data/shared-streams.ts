/** Live streams that all tabs of a browser share, because HTTP/1.1 allows only six connections per host. */

/** A tab joins or leaves the stream of an organization. */
export type StreamRequest =
  | {
      join: string;
      /** Position in the event log from which the tab needs messages. */
      after: string;
      /** Time from which the tab needs messages, if the stream is already open. */
      since: number;
      /** Whether the connection was restored, so that an open stream can be dead. */
      isRestored: boolean;
    }
  | { leave: string };

/** A message of a stream, or `error` when it is lost. */
export type StreamMessage = {
  organizationId: string;
  name: string;
  data: string;
  position: string;
};

type Tab = { postMessage: (message: StreamMessage) => void };
type Source = Pick<EventSource, "addEventListener" | "close">;

export const messageNames = ["hello", "change", "monitors", "deliveries", "reset"];

export const openEventSource = (organizationId: string, after: string) =>
  new EventSource(`/dashboard/live?organization=${organizationId}&after=${after}`);

/** Stored messages, for tabs that join while their overview is older than the stream. */
const maxStored = 100;
/** A stream that was opened this recently is not replaced after the connection was restored. */
const freshMs = 1_000;

export class SharedStreams {
  readonly #streams = new Map<string, SharedStream>();
  readonly #open: (organizationId: string, after: string) => Source;

  constructor(open: (organizationId: string, after: string) => Source) {
    this.#open = open;
  }

  handle(tab: Tab, request: StreamRequest, now: number) {
    if ("leave" in request) return this.#leave(tab, request.leave);
    const { join: organizationId, after } = request;
    let stream = this.#streams.get(organizationId);
    if (stream === undefined) {
      stream = new SharedStream(organizationId, after, now, (position) =>
        this.#open(organizationId, position),
      );
      this.#streams.set(organizationId, stream);
    }
    stream.join(tab, request, now);
  }

  #leave(tab: Tab, organizationId: string) {
    if (this.#streams.get(organizationId)?.leave(tab) === 0) this.#streams.delete(organizationId);
  }
}

class SharedStream {
  readonly #organizationId: string;
  readonly #open: (after: string) => Source;
  readonly #tabs = new Set<Tab>();
  #source: Source | null = null;
  #openedAt = 0;
  #isGreeted = false;
  #after: string;
  /** Position before the stored messages; null once older ones were dropped. */
  #storedAfter: string | null;
  /** Time from which all messages are stored. */
  #storedFrom: number;
  #stored: { at: number; message: StreamMessage }[] = [];

  constructor(organizationId: string, after: string, now: number, open: (after: string) => Source) {
    this.#organizationId = organizationId;
    this.#after = after;
    this.#storedAfter = after;
    this.#storedFrom = now;
    this.#open = open;
  }

  join(tab: Tab, request: Extract<StreamRequest, { join: string }>, now: number) {
    const { after, since, isRestored } = request;
    if (!this.#tabs.has(tab)) this.#catchUp(tab, after, since);
    this.#tabs.add(tab);
    if (this.#source === null || (isRestored && now - this.#openedAt > freshMs))
      return this.#connect(now);
    if (this.#isGreeted) tab.postMessage(this.#toMessage("hello", "", this.#after));
  }

  /** Returns the number of remaining tabs. Without any, the stream is closed. */
  leave(tab: Tab): number {
    this.#tabs.delete(tab);
    if (this.#tabs.size === 0) this.#close();
    return this.#tabs.size;
  }

  #catchUp(tab: Tab, after: string, since: number) {
    const isWhole = after === this.#storedAfter;
    if (!isWhole && since < this.#storedFrom)
      return tab.postMessage(this.#toMessage("reset", "", this.#after));
    for (const { at, message } of this.#stored)
      if (isWhole || at >= since) tab.postMessage(message);
  }

  #connect(now: number) {
    this.#close();
    const source = this.#open(this.#after);
    this.#source = source;
    this.#openedAt = now;
    for (const name of messageNames)
      source.addEventListener(name, (event) => {
        const { data, lastEventId } = event as MessageEvent<string>;
        this.#receive(this.#toMessage(name, data, lastEventId));
      });
    source.addEventListener("error", () => {
      // Tabs check the session before they join again.
      this.#close();
      this.#send(this.#toMessage("error", "", this.#after));
    });
  }

  #receive(message: StreamMessage) {
    const { name, position } = message;
    if (name === "hello") this.#isGreeted = true;
    else {
      if (name === "change" || name === "reset") this.#after = position;
      this.#stored.push({ at: Date.now(), message });
      if (this.#stored.length > maxStored) {
        this.#storedFrom = this.#stored.shift()?.at ?? 0;
        this.#storedAfter = null;
      }
    }
    this.#send(message);
  }

  #send(message: StreamMessage) {
    for (const tab of this.#tabs) tab.postMessage(message);
  }

  #close() {
    this.#source?.close();
    this.#source = null;
    this.#isGreeted = false;
  }

  #toMessage(name: string, data: string, position: string): StreamMessage {
    return { organizationId: this.#organizationId, name, data, position };
  }
}
