import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { NewTestMail, TestMail } from "./schema.ts";
import { sendTestMail } from "./service.ts";

export const testMailRoutes = routesUnder("/settings").post(
  ...endpoint("/test-mail", {
    name: "sendTestMail",
    access: "write",
    role: "admin",
    timeoutSeconds: 30,
    summary: "Send a test mail, also through a mail server that is not saved yet",
    body: NewTestMail,
    data: TestMail,
    handle: ({ scope, body, services }) => sendTestMail(scope, services, body),
  }),
);
