import { expect, test } from "bun:test";
import { readSince } from "../../../src/events/log.ts";
import { watching } from "../../../src/monitoring/checks/watching.ts";
import { watch } from "../../support/watch.ts";

test("what another node has checked goes on at its pace, also where an event comes before it is all read", async () => {
  const made = await watch();
  const { pass, site, changeMonitor, store, appliance } = made;
  await using shop = await site();
  await pass(1);
  await using unchecked = await site();
  await made.group();
  const begun: [string, string][] = [];
  const monitors = watching(
    appliance,
    ({ id }, firstCheck) => void begun.push([id, firstCheck]),
    () => {},
  );
  let cursor = 0;
  const takeEvents = async () => {
    const events = await readSince(store, cursor, 1_000);
    cursor = events.at(-1)?.seq ?? cursor;
    begun.length = 0;
    await monitors.take(events);
    return new Map(begun);
  };
  expect(await takeEvents()).toEqual(
    new Map([
      [shop.id, "spread"],
      [unchecked.id, "now"],
    ]),
  );
  await monitors.load();
  await changeMonitor(shop.id, { paused: true });
  expect(await takeEvents()).toEqual(new Map());
  await changeMonitor(shop.id, { paused: false });
  expect(await takeEvents()).toEqual(new Map([[shop.id, "now"]]));
});
