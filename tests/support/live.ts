import type { TestAppliance } from "./appliance.ts";
import type { Json } from "./json.ts";

export type Notified = { event: string; id: string | null; data: Json };

/** An open event stream of the admin page, read message by message. */
export async function openStream(
  { app }: Pick<TestAppliance, "app">,
  cookie: string,
  { query = "", headers = {} }: { query?: string; headers?: Record<string, string> } = {},
) {
  const leaving = new AbortController();
  const request = new Request(`http://localhost/dashboard/live${query}`, {
    headers: { Host: "localhost", Cookie: cookie, ...headers },
    signal: leaving.signal,
  });
  const response = await app.handle(request);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";

  /** Reads the next message; null at the end of the stream. */
  async function readNext(): Promise<Notified | null> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const readField = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const [event, data, id] = [readField("event"), readField("data"), readField("id")];
        if (event === undefined || data === undefined) continue;
        return { event, data: JSON.parse(data), id: id ?? null };
      }
      const { done, value } = await reader.read();
      if (done) return null;
      text += decoder.decode(value, { stream: true });
    }
  }

  return {
    response,
    next: readNext,
    /** Reads all messages up to the first match, in order. */
    readUntil: async (isLast: (message: Notified) => boolean): Promise<Notified[]> => {
      const all: Notified[] = [];
      for (;;) {
        const message = await readNext();
        if (message === null) throw new Error("The stream is over.");
        all.push(message);
        if (isLast(message)) return all;
      }
    },
    leave: () => reader.cancel(),
  };
}
