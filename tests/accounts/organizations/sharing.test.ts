import { expect, test } from "bun:test";
import { join } from "node:path";
import { deleteOrganization } from "../../../src/operations/appliance/service.ts";
import { assets } from "../../../src/core/assets.ts";
import { createEmbeddedStore, openDatabase } from "../../../src/database/file/embedded.ts";
import { migrate } from "../../../src/database/migrate.ts";
import { createOrganization, createSharing } from "../../../src/accounts/organizations/service.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const directory = createScratch();

test("an appliance is shared while it has several organizations, whichever process creates and deletes them", async () => {
  const file = join(directory(), "signalbox.db");
  const ours = openDatabase(file);
  migrate(ours, assets.migrations);
  const store = createEmbeddedStore(ours);
  // The command line while the server runs.
  const theirs = openDatabase(file);
  const elsewhere = createEmbeddedStore(theirs);
  const actor = { type: "command-line", id: null, name: "command line" } as const;
  let now = 0;
  const sharing = createSharing(store, () => now);
  const isShared = async () => {
    await sharing.refresh();
    return sharing.isShared();
  };
  expect(await isShared()).toBe(false);
  await createOrganization(store, Date.now, "First");
  expect(await isShared()).toBe(false);
  const { id } = await createOrganization(elsewhere, Date.now, "Second");
  now += 100;
  expect(await isShared()).toBe(true);
  await deleteOrganization({ store: elsewhere, clock: Date.now, requestId: null, actor }, id);
  now += 100;
  expect(await isShared()).toBe(false);
  await createOrganization(store, Date.now, "Third");
  expect(await isShared()).toBe(true);
  elsewhere.close();
  store.close();
});
