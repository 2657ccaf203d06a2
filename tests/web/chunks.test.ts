import { afterEach, expect, jest, test } from "bun:test";
import { createChunk, loadWhenIdle } from "../../web/data/chunks.ts";

afterEach(() => {
  jest.useRealTimers();
  Reflect.deleteProperty(navigator, "connection");
});

test.each([
  { connection: undefined, loads: 1 },
  { connection: { saveData: false }, loads: 1 },
  { connection: { saveData: true }, loads: 0 },
])(
  "preloads the parts of the script unless the browser saves data: %j",
  async ({ connection, loads }) => {
    jest.useFakeTimers();
    Object.defineProperty(navigator, "connection", { value: connection, configurable: true });
    const load = jest.fn(async () => {});
    const stop = loadWhenIdle([createChunk(load)]);
    for (let seconds = 0; seconds < 10; seconds++) {
      jest.advanceTimersByTime(1_000);
      await Promise.resolve();
    }
    stop();
    expect(load).toHaveBeenCalledTimes(loads);
  },
);
