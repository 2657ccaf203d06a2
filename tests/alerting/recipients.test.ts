import { describe, expect, test } from "bun:test";
import { mailServer } from "../support/mail-server.ts";
import { ann, bob, cid } from "../support/mailing.ts";
import { pager } from "../support/pager.ts";
import { exchange } from "../../src/core/outgoing/exchange.ts";
import { answer, target } from "../support/target.ts";

/** A channel of three mailboxes, whose server refuses some with these codes. */
async function mailing(refusals: Record<string, number>) {
  const made = await pager({ allowTarget: ["127.0.0.1/32"] });
  const codes = new Map(Object.entries(refusals));
  const server = await mailServer({ recipient: (address) => codes.get(address) ?? 0 });
  const body = { smtp: server.smtp() };
  expect((await made.api("PATCH", "/api/v1/settings", { body })).status).toBe(200);
  const team = await made.channel({ type: "email", to: [ann, bob, cid] });
  const backup = await made.watched([team]);
  return {
    ...made,
    team,
    backup,
    codes,
    mails: server.mails,
    /** To whom each mail went, and of what. */
    sent: () =>
      server.mails.map(({ to, headers }) => `${headers["subject"]?.[0]}: ${to.join(" ")}`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const down = "Backup is down";
const up = "Backup is up again";
const name = (...addresses: string[]) => addresses.join(" ");

describe("a mailbox that is refused for now", () => {
  test("is tried again alone, also after a restart, with the mail that the others got", async () => {
    await using made = await mailing({ [cid]: 451 });
    await made.backup.goes("down");
    for (const seconds of [10, 6, 16, 61, 301]) {
      await made.later(seconds);
      made.restart();
    }
    expect(made.sent()).toEqual([`${down}: ${name(ann, bob)}`]);
    const [waiting] = await made.deliveriesOf(made.team);
    expect(waiting).toMatchObject({
      status: "pending",
      error: "The mail server refused 1 of 3 recipients for now.",
    });
    expect(waiting.attempts).toHaveLength(5);
    made.codes.clear();
    await made.later(901);
    expect(made.sent()).toEqual([`${down}: ${name(ann, bob)}`, `${down}: ${cid}`]);
    for (const header of ["message-id", "date", "to", "subject"])
      expect(made.mails[1]?.headers[header]).toEqual(made.mails[0]?.headers[header]);
    expect(await made.deliveriesOf(made.team)).toMatchObject([
      { status: "delivered", error: null },
    ]);
    expect((await made.channelOf(made.team)).lastError).toBeNull();
  });

  test("holds up neither the end of the outage for the others nor other news, and gets the end alone", async () => {
    await using made = await mailing({ [cid]: 450 });
    const other = await made.watched([made.team], { name: "Other" });
    await made.backup.goes("down");
    await made.later();
    await other.goes("down");
    await made.later();
    await made.backup.goes("up");
    await made.later(6);
    made.codes.clear();
    await made.later(3_600);
    expect(made.sent().toSorted()).toEqual(
      [
        `${down}: ${name(ann, bob)}`,
        `Other is down: ${name(ann, bob)}`,
        `Other is down: ${cid}`,
        `${up}: ${name(ann, bob)}`,
        `${up}: ${cid}`,
      ].toSorted(),
    );
    const all = await made.deliveriesOf(made.team);
    expect(all.map(({ status, type }) => `${type} ${status}`)).toEqual([
      "monitor.down delivered",
      "monitor.down delivered",
      "monitor.up delivered",
    ]);
    expect(all[0].error).toBe("The mail server refused 1 of 3 recipients for now.");
  });

  test("for a day is given up; the channel is not, since the others hear", async () => {
    await using made = await mailing({ [cid]: 450 });
    await using keeper = await made.inbox({ default: true });
    await made.backup.goes("down");
    for (let hours = 0; hours < 26; hours += 2) await made.later(7_200);
    expect(made.sent()).toEqual([`${down}: ${name(ann, bob)}`]);
    expect(await made.deliveriesOf(made.team)).toMatchObject([
      { status: "delivered", error: "The mail server refused 1 of 3 recipients for now." },
    ]);
    expect(keeper.asked).toEqual([]);
    await made.backup.goes("up");
    await made.later();
    expect(made.sent()).toEqual([`${down}: ${name(ann, bob)}`, `${up}: ${name(ann, bob)}`]);
  });

  test("is tried where another is refused for good, which is not", async () => {
    await using made = await mailing({ [bob]: 550, [cid]: 451 });
    await made.backup.goes("down");
    await made.later();
    made.codes.delete(cid);
    await made.later(60);
    expect(made.sent()).toEqual([`${down}: ${ann}`, `${down}: ${cid}`]);
    expect(await made.deliveriesOf(made.team)).toMatchObject([{ status: "delivered" }]);
    expect((await made.channelOf(made.team)).lastError).toBe(
      "The mail server refused 1 of 3 recipients.",
    );
  });

  test("and then taken from the channel is not tried any more", async () => {
    await using made = await mailing({ [cid]: 451 });
    await made.backup.goes("down");
    await made.later();
    await made.changeChannel(made.team, { to: [ann, bob] });
    await made.later(60);
    expect(made.sent()).toEqual([`${down}: ${name(ann, bob)}`]);
    expect(await made.deliveriesOf(made.team)).toMatchObject([{ status: "delivered" }]);
  });
});

test("all that are refused for good end it; all that are refused for now do not", async () => {
  await using gone = await mailing({ [ann]: 550, [bob]: 550, [cid]: 550 });
  await gone.backup.goes("down");
  await gone.later();
  await gone.later(86_400);
  expect(await gone.deliveriesOf(gone.team)).toMatchObject([
    { status: "failed", attempts: [{ outcome: "failed" }] },
  ]);
  await using late = await mailing({ [ann]: 450, [bob]: 550, [cid]: 450 });
  await late.backup.goes("down");
  await late.later();
  late.codes.clear();
  await late.later(60);
  expect(late.sent()).toEqual([`${down}: ${name(ann, cid)}`]);
});

test("what tells nobody whom it reached is tried three times in all, and counts as told", async () => {
  await using service = await target(answer(424));
  await using made = {
    ...(await pager({
      exchange: (request, context) => exchange({ ...request, url: new URL(service.at()) }, context),
    })),
    [Symbol.asyncDispose]: async () => {},
  };
  const apprise = await made.channel({ type: "apprise", server: service.at(), key: "team" });
  const backup = await made.watched([apprise]);
  await backup.goes("down");
  for (const seconds of [10, 6, 16, 61, 301, 901]) {
    await made.later(seconds);
    made.restart();
  }
  expect(service.asked).toHaveLength(3);
  const error = "Apprise could not tell all of the services behind it.";
  expect(await made.deliveriesOf(apprise)).toMatchObject([{ status: "delivered", error }]);
  expect((await made.channelOf(apprise)).lastError).toBe(error);
  service.reply(answer());
  await backup.goes("up");
  await made.later();
  expect(service.asked).toHaveLength(4);
});
