import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
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
        access: "administrator",
        summary: "Get how large a backup is at most",
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
        access: "administrator",
        takesSeconds: patienceSeconds,
        summary: "Copy the whole database, of every organization",
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
        access: "administrator",
        streams: "application/vnd.sqlite3",
        summary: "Download a copy, once",
        answer: z.never(),
        errors: ["NOT_FOUND"],
      },
      async ({ visit, appliance, request, id }) => {
        appliance.giveTime(request, patienceSeconds);
        return takeBackup(visit, appliance, id);
      },
    ),
  );
