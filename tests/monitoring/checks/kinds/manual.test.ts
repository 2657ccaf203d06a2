import { describe, expect, test } from "bun:test";
import { createWatch } from "../../../support/check-board.ts";

const minuteMs = 60_000;

async function createManual() {
  const watch = await createWatch();
  const { api, advance, time } = watch;
  const body = { type: "manual", name: "Phone line", interval: 86_400 };
  const { id } = (await api("POST", "/api/v1/monitors", { body })).json.data;
  await advance(1);
  const set = async (fields: object) => {
    const { status } = await api("PATCH", `/api/v1/monitors/${id}`, { body: fields });
    await advance(1);
    return status;
  };
  const formatMinutesAhead = (minutes: number) =>
    new Date(time.now + minutes * minuteMs).toISOString();
  return { ...watch, id, set, formatMinutesAhead };
}

describe("a manual monitor", () => {
  test("has the status that people set, at once and without retries", async () => {
    const { id, set, readStatus, readMonitor, readStateChanges } = await createManual();
    expect(await readStatus(id)).toBe("up");
    for (const status of ["down", "degraded", "up", "down"]) {
      expect(await set({ manualStatus: status, manualMessage: "Cable cut" })).toBe(200);
      expect(await readStatus(id)).toBe(status);
    }
    expect((await readMonitor(id)).lastMessage).toBe("Set to down. Cable cut");
    expect((await readStateChanges()).map(({ type }) => type)).toEqual([
      "monitor.up",
      "monitor.down",
      "monitor.degraded",
      "monitor.up",
      "monitor.down",
    ]);
  });

  test("is never inverted, because people set what it shows", async () => {
    const { id, set, readStatus } = await createManual();
    expect(await set({ inverted: true, retries: 0 })).toBe(200);
    for (const status of ["up", "down", "degraded"]) {
      await set({ manualStatus: status });
      expect(await readStatus(id)).toBe(status);
    }
  });

  test("is up again at its end, and not before, however long its interval is", async () => {
    const { id, set, formatMinutesAhead, advance, readStatus, readMonitor, readBeats } =
      await createManual();
    await set({ manualStatus: "down", manualUntil: formatMinutesAhead(10) });
    await advance(9 * 60);
    expect(await readStatus(id)).toBe("down");
    await advance(65);
    expect(await readStatus(id)).toBe("up");
    expect((await readMonitor(id)).lastMessage).toMatch(/^Up again since .+, as planned\.$/);
    const down = (await readBeats(id)).filter(({ status }) => status === "down");
    const seconds = down.reduce((sum, { period }) => sum + period, 0);
    expect(Math.abs(seconds - 600)).toBeLessThanOrEqual(2);
  });

  test("opens public incidents without the reason of people", async () => {
    const { api, set } = await createManual();
    await set({ autoIncidentSeverity: "minor" });
    await set({ manualStatus: "down", manualMessage: "Invoice unpaid" });
    const [{ id }] = (await api("GET", "/api/v1/incidents")).json.data;
    const incident = JSON.stringify((await api("GET", `/api/v1/incidents/${id}`)).json);
    expect(incident).toContain("Set to down.");
    expect(incident).not.toContain("Invoice unpaid");
  });
});
