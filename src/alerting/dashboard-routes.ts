import { Elysia } from "elysia";
import { dataOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { NewTestMail, TestMail } from "./test-mail-schema.ts";
import { sendTestMail } from "./test-mail-service.ts";

export const testMailRoutes = new Elysia({ prefix: "/settings" }).post(
  "/test-mail",
  ...endpoint(
    {
      name: "sendTestMail",
      access: "write",
      role: "admin",
      takesSeconds: 30,
      summary: "Send a test mail, also through a mail server that is not saved yet",
      body: NewTestMail,
      answer: dataOf(TestMail),
    },
    async ({ scope, body, appliance }) => ({ data: await sendTestMail(scope, appliance, body) }),
  ),
);
