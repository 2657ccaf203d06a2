import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { SessionEntry } from "./schema.ts";
import { endOtherSessions, endSession, listSessions } from "./service.ts";

export const sessionRoutes = new Elysia({ prefix: "/sessions" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listSessions",
        access: "person",
        summary: "List the browsers in which one is signed in",
        response: dataOf(z.array(SessionEntry)),
      },
      async ({ context }) => ({ data: await listSessions(context) }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "endSession",
        access: "person",
        summary: "Sign out one browser",
        response: Deleted,
        errors: ["NOT_FOUND"],
      },
      async ({ context, params }) => {
        await endSession(context, params.id);
        return deleted;
      },
    ),
  )
  .post(
    ...endpoint(
      "/end-others",
      {
        name: "endOtherSessions",
        access: "person",
        summary: "Sign out everywhere else",
        response: dataOf(z.array(SessionEntry)),
      },
      async ({ context }) => {
        await endOtherSessions(context);
        return { data: await listSessions(context) };
      },
    ),
  );
