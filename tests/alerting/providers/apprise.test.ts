import { describe, expect, test } from "bun:test";
import { apprise } from "../../../src/alerting/providers/apprise.ts";
import { createAlert, startReceiver, createMessage } from "../../support/alert-receiver.ts";
import { services } from "./services.ts";

const { settings } = services.apprise;

describe("a message is for", () => {
  const readSent = async (changes: object) => {
    await using to = await startReceiver();
    await to.deliver(apprise, { ...settings, ...changes }, createMessage(createAlert("test")));
    const { tag, urls } = to.parseLastBody();
    return { to: to.urls, tag, urls };
  };

  test("everything that is saved under the key, or has one of these tags", async () => {
    const notify = ["http://apprise.lan:8000/notify/ops"];
    expect(await readSent({})).toEqual({ to: notify, tag: "all", urls: undefined });
    expect(await readSent({ tag: "oncall, eu" })).toEqual({
      to: notify,
      tag: "oncall, eu",
      urls: undefined,
    });
  });

  test("the channel's own URLs, if it has no key", async () => {
    const urls = "mailto://ann:pw@mail.lan, json://bot.lan";
    expect(await readSent({ key: null, urls })).toEqual({
      to: ["http://apprise.lan:8000/notify/"],
      tag: undefined,
      urls,
    });
  });
});
