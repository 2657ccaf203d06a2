/** Mailboxes of one channel that reject a mail, while others accept it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { startMailServer } from "../support/mail-server.ts";
import { ann, bob, cid } from "../support/mail-outcomes.ts";
import { createPager } from "../support/pager.ts";
import { exchange } from "../../src/core/outgoing/http/exchange.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { limitTries } from "../support/property-runs.ts";

/** A channel of three mailboxes, whose server rejects some with these codes. */
async function setUpMailing(refusals: Record<string, number>) {
  const pager = await createPager({ allowTarget: ["127.0.0.1/32"] });
  const codes = new Map(Object.entries(refusals));
  const server = await startMailServer({ recipient: (address) => codes.get(address) ?? 0 });
  const body = { smtp: server.smtp() };
  expect((await pager.api("PATCH", "/api/v1/settings", { body })).status).toBe(200);
  const team = await pager.channel({ type: "email", to: [ann, bob, cid] });
  const backup = await pager.createWatchedJob([team]);
  return {
    ...pager,
    team,
    backup,
    codes,
    mails: server.mails,
    /** Recipients and subject of each mail. */
    sent: () =>
      server.mails.map(({ to, headers }) => `${headers["subject"]?.[0]}: ${to.join(" ")}`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const down = "Backup is down";
const up = "Backup is up again";
/** Formats the time as messages do. */
const formatNow = ({ time }: { time: { now: number } }) =>
  `${new Date(time.now).toISOString().slice(0, 19).replace("T", " ")} UTC`;
const buildName = (...addresses: string[]) => addresses.join(" ");

describe("a mailbox that temporarily rejects mails", () => {
  test("is retried alone, even after a restart, with the same mail", async () => {
    await using world = await setUpMailing({ [cid]: 451 });
    await world.backup.changeState("down");
    for (const seconds of [10, 6, 16, 61, 301]) {
      await world.later(seconds);
      world.restart();
    }
    expect(world.sent()).toEqual([`${down}: ${buildName(ann, bob)}`]);
    const [waiting] = await world.readDeliveries(world.team);
    expect(waiting).toMatchObject({
      status: "pending",
      error: "The mail server rejected 1 of 3 recipients for now.",
    });
    expect(waiting.attempts).toHaveLength(5);
    world.codes.clear();
    await world.later(901);
    expect(world.sent()).toEqual([`${down}: ${buildName(ann, bob)}`, `${down}: ${cid}`]);
    for (const header of ["message-id", "date", "to", "subject"])
      expect(world.mails[1]?.headers[header]).toEqual(world.mails[0]?.headers[header]);
    expect(await world.readDeliveries(world.team)).toMatchObject([
      { status: "delivered", error: null },
    ]);
    expect((await world.readChannel(world.team)).lastError).toBeNull();
  });

  test("delays neither the end for the others nor other alerts, and gets both in one mail", async () => {
    await using world = await setUpMailing({ [cid]: 450 });
    const other = await world.createWatchedJob([world.team], { name: "Other" });
    await world.backup.changeState("down");
    const wentDown = formatNow(world);
    await world.later();
    await other.changeState("down");
    await world.later();
    await world.backup.changeState("up");
    const wentUp = formatNow(world);
    await world.later(6);
    world.codes.clear();
    await world.later(3_600);
    expect(world.sent().toSorted()).toEqual(
      [
        `${down}: ${buildName(ann, bob)}`,
        `Other is down: ${buildName(ann, bob)}`,
        `Other is down: ${cid}`,
        `${up}: ${buildName(ann, bob)}`,
        `Backup was down from ${wentDown} to ${wentUp}: ${cid}`,
      ].toSorted(),
    );
    const late = world.mails.at(-1);
    expect(late?.text).toContain("Backup is down. Reported down.");
    expect(late?.text.indexOf("Backup is down")).toBeLessThan(
      Number(late?.text.indexOf("Backup is up again")),
    );
    const ids = world.mails.map(({ headers }) => headers["message-id"]?.[0]);
    expect(new Set(ids).size).toBe(4);
    const all = await world.readDeliveries(world.team);
    expect(all.map(({ status, type }) => `${type} ${status}`)).toEqual([
      "monitor.down delivered",
      "monitor.down delivered",
      "monitor.up delivered",
    ]);
    expect(all[0].error).toBe("The mail server rejected 1 of 3 recipients for now.");
  });

  test("for a day is given up; the channel is not, because the others get their mails", async () => {
    await using world = await setUpMailing({ [cid]: 450 });
    await using fallback = await world.inbox({ default: true });
    await world.backup.changeState("down");
    for (let hours = 0; hours < 26; hours += 2) await world.later(7_200);
    expect(world.sent()).toEqual([`${down}: ${buildName(ann, bob)}`]);
    expect(await world.readDeliveries(world.team)).toMatchObject([
      { status: "delivered", error: "The mail server rejected 1 of 3 recipients for now." },
    ]);
    expect(fallback.asked).toEqual([]);
    await world.backup.changeState("up");
    await world.later();
    expect(world.sent()).toEqual([
      `${down}: ${buildName(ann, bob)}`,
      `${up}: ${buildName(ann, bob)}`,
    ]);
  });

  test("is retried if another rejects permanently, which is not retried", async () => {
    await using world = await setUpMailing({ [bob]: 550, [cid]: 451 });
    await world.backup.changeState("down");
    await world.later();
    world.codes.delete(cid);
    await world.later(60);
    expect(world.sent()).toEqual([`${down}: ${ann}`, `${down}: ${cid}`]);
    expect(await world.readDeliveries(world.team)).toMatchObject([{ status: "delivered" }]);
    expect((await world.readChannel(world.team)).lastError).toBe(
      "The mail server rejected 1 of 3 recipients.",
    );
  });

  test("and is then removed from the channel is not retried", async () => {
    await using world = await setUpMailing({ [cid]: 451 });
    await world.backup.changeState("down");
    await world.later();
    await world.changeChannel(world.team, { to: [ann, bob] });
    await world.later(60);
    expect(world.sent()).toEqual([`${down}: ${buildName(ann, bob)}`]);
    expect(await world.readDeliveries(world.team)).toMatchObject([{ status: "delivered" }]);
  });
});

test("only permanent rejections by all mailboxes end a delivery", async () => {
  await using gone = await setUpMailing({ [ann]: 550, [bob]: 550, [cid]: 550 });
  await gone.backup.changeState("down");
  await gone.later();
  await gone.later(86_400);
  expect(await gone.readDeliveries(gone.team)).toMatchObject([
    { status: "failed", attempts: [{ outcome: "failed" }] },
  ]);
  await using late = await setUpMailing({ [ann]: 450, [bob]: 550, [cid]: 450 });
  await late.backup.changeState("down");
  await late.later();
  late.codes.clear();
  await late.later(60);
  expect(late.sent()).toEqual([`${down}: ${buildName(ann, cid)}`]);
});

test("a delivery without known recipients is attempted three times, and counts as delivered", async () => {
  await using service = await startTarget(replyWith(424));
  await using world = {
    ...(await createPager({
      exchange: (request, context) => exchange({ ...request, url: new URL(service.at()) }, context),
    })),
    [Symbol.asyncDispose]: async () => {},
  };
  const apprise = await world.channel({ type: "apprise", server: service.at(), key: "team" });
  const backup = await world.createWatchedJob([apprise]);
  await backup.changeState("down");
  for (const seconds of [10, 6, 16, 61, 301, 901]) {
    await world.later(seconds);
    world.restart();
  }
  expect(service.asked).toHaveLength(3);
  const error = "Apprise could not notify all of its services.";
  expect(await world.readDeliveries(apprise)).toMatchObject([{ status: "delivered", error }]);
  expect((await world.readChannel(apprise)).lastError).toBe(error);
  service.setReply(replyWith());
  await backup.changeState("up");
  await world.later();
  expect(service.asked).toHaveLength(4);
  // The recipients of the service possibly don't know of the outage.
  expect(JSON.parse(service.asked[3]?.body ?? "").title).toStartWith("Backup was down from ");
});

describe("no recipient gets an end without its start", () => {
  /** The mails of a mailbox, in order. */
  const listTitlesTo = (mails: readonly { to: string[]; text: string }[], address: string) =>
    mails
      .filter(({ to }) => to.includes(address))
      .map(({ text }) =>
        [...text.matchAll(/(?:Backup|Other) is (down|up again|still down)/g)].map(
          ([, what]) => what,
        ),
      );

  test("if it was rejected permanently", async () => {
    await using world = await setUpMailing({ [cid]: 552 });
    await world.backup.changeState("down");
    await world.later();
    world.codes.clear();
    await world.backup.changeState("up");
    await world.later();
    expect(listTitlesTo(world.mails, ann)).toEqual([["down"], ["up again"]]);
    expect(listTitlesTo(world.mails, cid)).toEqual([["down", "up again"]]);
  });

  test("if they joined the channel during the outage", async () => {
    await using world = await setUpMailing({});
    await world.changeChannel(world.team, { to: [ann] });
    await world.backup.changeState("down");
    await world.later();
    await world.changeChannel(world.team, { to: [bob] });
    await world.backup.changeState("up");
    await world.later();
    expect(listTitlesTo(world.mails, ann)).toEqual([["down"]]);
    expect(listTitlesTo(world.mails, bob)).toEqual([["down", "up again"]]);
  });

  test("if a reminder reached them instead, they get only the end", async () => {
    await using world = await setUpMailing({ [cid]: 450 });
    await world.backup.change({ reminderInterval: 3_600 });
    await world.backup.changeState("down");
    await world.later(3_500);
    world.codes.clear();
    await world.later(200);
    await world.later();
    await world.backup.changeState("up");
    await world.later();
    expect(listTitlesTo(world.mails, cid).slice(-2)).toEqual([["still down"], ["up again"]]);
  });

  test("in a digest with other alerts", async () => {
    await using world = await setUpMailing({ [cid]: 450 });
    const other = await world.createWatchedJob([world.team], { name: "Other" });
    await world.backup.changeState("down");
    await world.later();
    await world.backup.changeState("up");
    await other.changeState("down");
    await world.later();
    world.codes.clear();
    await world.later(3_600);
    expect(listTitlesTo(world.mails, ann)).toEqual([["down"], ["up again", "down"]]);
    expect(listTitlesTo(world.mails, cid)).toEqual([["down", "up again", "down"]]);
  });

  test("of an incident", async () => {
    await using world = await setUpMailing({ [cid]: 450 });
    const body = { title: "Slow" };
    const { id } = (await world.api("POST", "/api/v1/incidents", { body })).json.data;
    await world.later();
    world.time.now += 60_000;
    await world.api("POST", `/api/v1/incidents/${id}/resolve`);
    await world.later();
    world.codes.clear();
    await world.later(3_600);
    const texts = world.mails.filter(({ to }) => to.includes(cid)).map(({ text }) => text);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/Incident: Slow[^]*Incident resolved: Slow/);
  });

  type Step = { code: 0 | 450 | 550; recipient: string } | "down" | "up" | number;
  const step = fc.oneof(
    fc.record({
      recipient: fc.constantFrom(ann, bob, cid),
      code: fc.constantFrom(0 as const, 450 as const, 550 as const),
    }),
    fc.constantFrom("down" as const, "up" as const),
    fc.constantFrom(10, 70, 400, 4_000),
  );

  test("for any rejections, all recipients except permanently rejecting ones get the end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps: Step[]) => {
        await using world = await setUpMailing({});
        for (const one of steps) {
          if (typeof one === "number") await world.later(one);
          else if (typeof one === "string") await world.backup.changeState(one);
          else world.codes.set(one.recipient, one.code);
          if (one === "down" || one === "up") await world.later(6);
        }
        world.codes.clear();
        await world.later(3_600);
        await world.later();
        await world.backup.changeState("down");
        await world.later();
        await world.backup.changeState("up");
        await world.later();
        for (const address of [ann, bob, cid]) {
          const messages = listTitlesTo(world.mails, address).flat();
          expect(messages.at(-1)).toBe("up again");
          messages.forEach((what, index) => {
            if (what === "up again")
              expect([address, messages[index - 1]]).toEqual([address, "down"]);
          });
        }
      }),
      limitTries(6),
    );
  });
});
