import { describe, expect, test } from "bun:test";
import { SharedStreams, type StreamMessage } from "../../web/data/shared-streams.ts";

const organizationId = "acme";

/** Shared streams over scripted sources, and tabs that record their messages. */
function createWorld() {
  const sources: { after: string; isClosed: boolean; send: (name: string, id?: string) => void }[] =
    [];
  const streams = new SharedStreams((_, after) => {
    const listeners = new Map<string, (event: Event) => void>();
    const source = {
      after,
      isClosed: false,
      send: (name: string, lastEventId = "") =>
        listeners.get(name)?.(new MessageEvent(name, { data: "{}", lastEventId })),
    };
    sources.push(source);
    return {
      addEventListener: (name: string, listener: unknown) =>
        listeners.set(name, listener as (event: Event) => void),
      close: () => (source.isClosed = true),
    };
  });
  return {
    sources,
    createTab: () => {
      const received: string[] = [];
      const tab = {
        postMessage: ({ name, position }: StreamMessage) =>
          received.push(position === "" ? name : `${name} ${position}`),
      };
      return {
        received,
        join: (after: string, { since = Date.now(), isRestored = false, now = Date.now() } = {}) =>
          streams.handle(tab, { join: organizationId, after, since, isRestored }, now),
        leave: () => streams.handle(tab, { leave: organizationId }, Date.now()),
      };
    },
  };
}

describe("the live stream of all tabs", () => {
  test("is opened once, and closed with the last tab", () => {
    const { sources, createTab } = createWorld();
    const tabs = Array.from({ length: 10 }, createTab);
    for (const tab of tabs) tab.join("a");
    expect(sources).toMatchObject([{ after: "a", isClosed: false }]);
    sources[0]?.send("hello");
    sources[0]?.send("change", "b");
    expect(tabs.map(({ received }) => received)).toEqual(Array(10).fill(["hello", "change b"]));
    for (const tab of tabs.slice(1)) tab.leave();
    expect(sources[0]?.isClosed).toBe(false);
    tabs[0]?.leave();
    expect(sources[0]?.isClosed).toBe(true);
  });

  test("gives a new tab the changes since it asked for its data", () => {
    const { sources, createTab } = createWorld();
    createTab().join("a");
    sources[0]?.send("hello");
    const since = Date.now();
    sources[0]?.send("change", "b");
    const late = createTab();
    late.join("between", { since });
    expect(late.received).toEqual(["change b", "hello b"]);
  });

  test("makes a tab load everything whose data is older than the stored changes", () => {
    const { sources, createTab } = createWorld();
    createTab().join("a");
    for (let index = 0; index < 101; index++) sources[0]?.send("change", `${index}`);
    const late = createTab();
    late.join("a", { since: 0 });
    expect(late.received).toEqual(["reset 100"]);
  });

  test("continues at its last position after a loss, once for all tabs", () => {
    const { sources, createTab } = createWorld();
    const [one, other] = [createTab(), createTab()];
    one.join("a");
    other.join("a");
    sources[0]?.send("change", "b");
    sources[0]?.send("error");
    expect(one.received).toEqual(["change b", "error b"]);
    one.leave();
    one.join("b");
    other.leave();
    other.join("b");
    expect(sources.map(({ after, isClosed }) => [after, isClosed])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("is replaced once after the connection was restored", () => {
    const { sources, createTab } = createWorld();
    const [one, other] = [createTab(), createTab()];
    const now = Date.now();
    one.join("a", { now });
    other.join("a", { now });
    one.join("a", { isRestored: true, now: now + 5_000 });
    other.join("a", { isRestored: true, now: now + 5_100 });
    expect(sources.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });
});
