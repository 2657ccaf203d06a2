import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../base/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { BackupOffer, MadeBackup } from "./schema.ts";
import { makeBackup, offerBackup, takeBackup } from "./service.ts";

/** A download that stands still for so long is over. */
const patienceSeconds = 240;

export const backupRoutes = new Elysia({ prefix: "/backup" })
  .get(
    "/",
    ...endpoint(
      {
        name: "offerBackup",
        access: "person",
        summary: "Whether one may download a backup",
        answer: dataOf(BackupOffer),
      },
      async ({ visit }) => ({ data: await offerBackup(visit) }),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "makeBackup",
        access: "person",
        takesSeconds: patienceSeconds,
        summary: "Copy the whole database, for those who own every organization",
        answer: dataOf(MadeBackup),
        status: 201,
        errors: ["CONFLICT"],
      },
      async ({ visit, appliance }) => ({ data: await makeBackup(visit, appliance.backups) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "takeBackup",
        access: "person",
        streams: "application/vnd.sqlite3",
        summary: "Download a copy, once",
        answer: z.never(),
        errors: ["NOT_FOUND"],
      },
      async ({ visit, appliance, request, id }) => {
        appliance.giveTime(request, patienceSeconds);
        return takeBackup(visit, appliance.backups, id);
      },
    ),
  );
