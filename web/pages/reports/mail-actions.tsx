/** Previews the mails of a report that is set up, and sends them now. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { hold } from "../../components/held-changes.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { Loaded } from "../../components/page.tsx";
import { useAction } from "../../components/toasts.tsx";
import { v1, addIdempotencyKey } from "../../data/client.ts";
import { createDataQuery } from "../../data/query.ts";
import { t, tNode } from "../../language/text.ts";

type ReportMail = Settings["reportMails"][number];
type Props = { organizationId: string; mails: readonly ReportMail[]; onSent: () => void };

export function MailActions({ organizationId, mails, onSent }: Props) {
  const [openInterval, setOpenInterval] = useState<ReportMail["interval"] | null>(null);
  return mails.map((mail) => {
    const isShown = mail.interval === openInterval;
    return (
      <Fragment key={mail.interval}>
        <MailLine
          mail={mail}
          isShown={isShown}
          onToggle={() => setOpenInterval(isShown ? null : mail.interval)}
          onSent={onSent}
        />
        {isShown && <Preview organizationId={organizationId} mail={mail} />}
      </Fragment>
    );
  });
}

function MailLine({
  mail: { interval, groupId, statusPageId },
  isShown,
  onToggle,
  onSent,
}: {
  mail: ReportMail;
  isShown: boolean;
  onToggle: () => void;
  onSent: () => void;
}) {
  const send = useAction(async () => {
    const idempotency = addIdempotencyKey(crypto.randomUUID());
    await hold((query) =>
      v1.reports.mail.send.post({ interval, groupId, statusPageId }, { query, ...idempotency }),
    );
    onSent();
  });
  return (
    <div className="report-mail-line flex items-center gap-6 text-s">
      <span>{interval === "weekly" ? t("The last week") : t("The last month")}</span>
      <Button size="compact-sm" aria-expanded={isShown} onClick={onToggle}>
        {isShown ? t("Hide") : t("Preview")}
      </Button>
      <Button size="compact-sm" disabled={send.isPending} onClick={send.run}>
        {t("Send now")}
      </Button>
    </div>
  );
}

/** Sets the styles of a mail by script, because the policy of the admin page blocks those in HTML. */
function applyStyles(mail: Document | null) {
  for (const element of mail?.querySelectorAll<HTMLElement>("[data-style]") ?? [])
    element.style.cssText = element.dataset["style"] ?? "";
}

/** The stored terms apply; the form can have others that are not saved. */
function Preview({ organizationId, mail }: { organizationId: string; mail: ReportMail }) {
  const { interval, groupId, statusPageId, to } = mail;
  const language = to[0]?.language;
  const query = {
    interval,
    ...(groupId !== null && { groupId }),
    ...(statusPageId !== null && { statusPageId }),
    ...(language != null && { language }),
  };
  const preview = useQuery(
    createDataQuery(["report-mail", organizationId, query], (options) =>
      v1.reports.mail.get({ query, ...options }),
    ),
  );
  const search = new URLSearchParams({ ...query, organization: organizationId });
  return (
    <Loaded query={preview} subject={t("The mail")}>
      {({ html, subject, attachment }) => (
        <section aria-label={t("Preview")} className="report-preview">
          <p className="text-s">
            {tNode("Subject: {subject}", { subject: <b dir="auto">{subject}</b> })}
          </p>
          <iframe
            className="report-mail"
            title={subject}
            srcDoc={html.replaceAll(' style="', ' data-style="')}
            sandbox="allow-same-origin"
            onLoad={({ currentTarget }) => applyStyles(currentTarget.contentDocument)}
          />
          {attachment !== null && (
            <Button
              size="compact-sm"
              component="a"
              href={`${v1.reports.mail.pdf["~path"]}?${search}`}
              download
              leftSection={<Icon name="download" size={14} />}
            >
              {attachment}
            </Button>
          )}
        </section>
      )}
    </Loaded>
  );
}
