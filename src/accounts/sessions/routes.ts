import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { SessionEntry } from "./schema.ts";
import { endOtherSessions, endSession, listSessions } from "./service.ts";

export const sessionRoutes = new Elysia({ prefix: "/sessions" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listSessions",
        access: "person",
        summary: "List the browsers in which one is signed in",
        answer: dataOf(z.array(SessionEntry)),
      },
      async ({ visit }) => ({ data: await listSessions(visit) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "endSession",
        access: "person",
        summary: "Sign out one browser",
        answer: Deleted,
        errors: ["NOT_FOUND"],
      },
      async ({ visit, id }) => {
        await endSession(visit, id);
        return deleted;
      },
    ),
  )
  .post(
    "/end-others",
    ...endpoint(
      {
        name: "endOtherSessions",
        access: "person",
        summary: "Sign out everywhere else",
        answer: dataOf(z.array(SessionEntry)),
      },
      async ({ visit }) => {
        await endOtherSessions(visit);
        return { data: await listSessions(visit) };
      },
    ),
  );
