/** Contact methods that use the gateway of an alert channel, and need only a number. */
import { expect, test } from "bun:test";
import type { Json } from "../../support/json.ts";
import { createPager } from "../../support/pager.ts";
import { signInMember } from "../../support/people.ts";
import { replyWith, startTarget } from "../../support/target.ts";

const path = "/dashboard/api/v1/contact-methods";
const ownNumber = "+491709999999";

/** An SMS channel of the organization with a recording gateway, and a viewer. */
async function setUp(fields: object = {}) {
  const world = await createPager();
  const server = await startTarget(replyWith());
  const gateway = {
    preset: "custom",
    url: server.at("/send"),
    account: "AC1",
    secret: "s3cret",
    body: '{ "to": "{{to}}", "text": "{{text}}", "key": "{{secret}}" }',
    ...fields,
  };
  const to = "+491701234567";
  const channel = await world.channel({ type: "sms", name: "On-call SMS", to, ...gateway });
  const ada = await signInMember(world, "viewer", { name: "Ada" });
  const create = (body: object) =>
    ada.page("POST", path, { body: { type: "sms", name: "Phone", to: ownNumber, ...body } });
  return {
    ...world,
    server,
    gateway,
    gatewayId: channel.id as string,
    ada,
    create,
    last: () => JSON.parse(server.asked.at(-1)?.body ?? "{}") as Json,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("a person needs only a number, and the channel can't be deleted meanwhile", async () => {
  await using world = await setUp();
  const { ada, api, create, gatewayId, last } = world;
  const { status, json } = await create({ gatewayId });
  expect(status).toBe(201);
  const method = json.data;
  expect(method).toMatchObject({ gatewayId, preset: null, secretsSet: [], to: ownNumber });
  await ada.page("POST", `${path}/${method.id}/code`);
  expect(last()).toMatchObject({ to: ownNumber, key: "s3cret" });
  const code = /\b\d{6}\b/.exec(last().text)?.[0];
  const verified = await ada.page("POST", `${path}/${method.id}/verify`, { body: { code } });
  expect(verified.json.data.verifiedAt).not.toBeNull();
  const refused = await api("DELETE", `/api/v1/alert-channels/${gatewayId}`);
  expect([refused.status, refused.json.error.message, refused.json.error.details]).toEqual([
    409,
    "The alert channel is used by the contact method Phone of Ada. Remove it there first.",
    [{ path: `contact-methods/${method.id}`, message: "Phone of Ada" }],
  ]);
  await ada.page("DELETE", `${path}/${method.id}`);
  expect((await api("DELETE", `/api/v1/alert-channels/${gatewayId}`)).status).toBe(200);
});

test("a method has either its own gateway or that of a channel of its type", async () => {
  await using world = await setUp();
  const { ada, create, gatewayId, gateway, channel, theirs, last } = world;
  const issueOf = async (body: object) => {
    const { status, json } = await create(body);
    return [status, json.error?.details[0].path];
  };
  expect(await issueOf({})).toEqual([422, "preset"]);
  expect(await issueOf({ gatewayId, ...gateway })).toEqual([422, "preset"]);
  expect(await issueOf({ gatewayId, dailyLimit: 9 })).toEqual([422, "dailyLimit"]);
  const hook = await channel({ type: "webhook", name: "Hook", url: gateway.url });
  expect(await issueOf({ gatewayId: hook.id })).toEqual([422, "gatewayId"]);
  const foreign = (
    await theirs.api("POST", "/api/v1/alert-channels", {
      body: { type: "sms", name: "Theirs", to: ownNumber, ...gateway },
    })
  ).json.data.id as string;
  expect(await issueOf({ gatewayId: foreign })).toEqual([404, "gatewayId"]);
  const mine = (await create(gateway)).json.data;
  expect(await issueOf({ gatewayId: mine.id })).toEqual([404, "gatewayId"]);
  const mail = { type: "email", to: ["ada@team.example"], gatewayId };
  expect(await issueOf(mail)).toEqual([422, "gatewayId"]);
  // The fields of the previous gateway are reset, including its secret.
  const moved = await ada.page("PATCH", `${path}/${mine.id}`, { body: { gatewayId } });
  expect(moved.json.data).toMatchObject({ gatewayId, preset: null, url: null, secretsSet: [] });
  await ada.page("POST", `${path}/${mine.id}/test`);
  expect(last()).toMatchObject({ to: ownNumber, key: "s3cret" });
  const back = { gatewayId: null, ...gateway, secret: "mine" };
  expect((await ada.page("PATCH", `${path}/${mine.id}`, { body: back })).status).toBe(200);
  await ada.page("POST", `${path}/${mine.id}/test`);
  expect(last()).toMatchObject({ to: ownNumber, key: "mine" });
});

test("the daily limit of the channel counts the messages and codes of all methods", async () => {
  await using world = await setUp({ dailyLimit: 3 });
  const { ada, api, create, gatewayId, server } = world;
  const send = async (id: string, action: string) => {
    const { data } = (await ada.page("POST", `${path}/${id}/${action}`)).json;
    return (data.message ?? data.error) as string | null;
  };
  const [one, two] = [
    (await create({ gatewayId })).json.data,
    (await create({ gatewayId })).json.data,
  ];
  await send(one.id, "code");
  await send(two.id, "test");
  // A deleted method forgets nothing.
  await ada.page("DELETE", `${path}/${one.id}`);
  await api("POST", `/api/v1/alert-channels/${gatewayId}/test`);
  expect(server.asked).toHaveLength(3);
  const limit = "The limit of 3 messages per day is reached. It ends at midnight UTC.";
  expect([await send(two.id, "code"), await send(two.id, "test")]).toEqual([limit, limit]);
  expect(server.asked).toHaveLength(3);
});

test("a person is called with the gateway of a voice channel, in their language, and hears the code", async () => {
  await using world = await setUp();
  const { ada, channel, gateway, gatewayId: smsId, last, create } = world;
  const body = '{ "to": "{{to}}", "say": "{{text}}", "in": "{{language}}", "key": "{{secret}}" }';
  const fields = { ...gateway, body, type: "voice", name: "Calls", to: "+491701234567" };
  const { id: gatewayId } = await channel(fields);
  const phone = { type: "voice", language: "de-DE" };
  expect((await create({ ...phone, gatewayId: smsId })).status).toBe(422);
  const { id } = (await create({ ...phone, gatewayId })).json.data;
  await ada.page("POST", `${path}/${id}/code`);
  expect(last()).toMatchObject({ to: ownNumber, in: "de-DE", key: "s3cret" });
  const code = /\b\d( \d){5}\b/.exec(last().say)?.[0].replaceAll(" ", "");
  const { status } = await ada.page("POST", `${path}/${id}/verify`, { body: { code } });
  expect(status).toBe(200);
});
