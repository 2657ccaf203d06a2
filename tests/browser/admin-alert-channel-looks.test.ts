import { afterAll, beforeAll } from "bun:test";
import { defineLookTests } from "../support/admin-looks.ts";
import { createAdminWorld } from "../support/admin-world.ts";
import { describeInChromium } from "../support/browser.ts";

describeInChromium("pages of alert channels", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  /** A channel that delivered, and then failed. */
  let id = "";
  let status = 200;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      await request.text();
      return new Response("", { status });
    },
  });

  beforeAll(async () => {
    world = await createAdminWorld();
    const path = "/api/v1/alert-channels";
    const url = `http://127.0.0.1:${receiver.port}/alerts`;
    const create = (body: object) => world.ask("POST", path, body);
    await create({ type: "email", name: "Office", to: ["office@acme.example"], enabled: false });
    ({ id } = await create({
      type: "webhook",
      name: "Deploy bot",
      url,
      default: true,
      notifyOn: ["down", "recovery"],
      quietHours: {
        timeZone: "Europe/Berlin",
        hours: [
          { days: ["monday", "tuesday", "wednesday", "thursday"], from: "22:00", until: "07:00" },
          { days: ["saturday", "sunday"], from: "00:00", until: "00:00" },
        ],
      },
    }));
    await world.ask("PATCH", `/api/v1/monitors/${world.idOf("Router")}`, {
      alertChannelIds: [id],
    });
    await world.ask("POST", `${path}/${id}/test`);
    status = 500;
    await world.ask("POST", `${path}/${id}/test`);
  });
  afterAll(async () => {
    await receiver.stop(true);
    await world[Symbol.asyncDispose]();
  });

  defineLookTests((path) => world.open(browser, path), {
    "alert-channels": () => ["/alert-channels"],
    "alert-channel": () => [`/alert-channels/${id}`],
    "alert-channel-new": () => ["/alert-channels?new="],
    "alert-channel-form": () => ["/alert-channels?new=telegram"],
    "alert-channel-form-ntfy": () => ["/alert-channels?new=ntfy"],
    "alert-channel-form-webhook": () => [`/alert-channels/${id}?edit=true`, "Quiet hours"],
  });
});
