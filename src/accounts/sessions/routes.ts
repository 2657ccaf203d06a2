import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { SessionEntry } from "./schema.ts";
import { endOtherSessions, endSession, listSessions } from "./service.ts";

export const sessionRoutes = routesUnder("/sessions")
  .get(
    ...endpoint("/", {
      name: "listSessions",
      access: "person",
      summary: "List the browsers in which you are signed in",
      data: z.array(SessionEntry),
      handle: ({ context }) => listSessions(context),
    }),
  )
  .delete(
    ...endpoint("/:id", {
      name: "endSession",
      access: "person",
      summary: "Sign out one browser",
      response: Deleted,
      handle: ({ context, params }) => endSession(context, params.id),
    }),
  )
  .post(
    ...endpoint("/end-others", {
      name: "endOtherSessions",
      access: "person",
      summary: "Sign out everywhere else",
      data: z.array(SessionEntry),
      handle: async ({ context }) => {
        await endOtherSessions(context);
        return listSessions(context);
      },
    }),
  );
