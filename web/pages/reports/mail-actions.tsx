/** Previews the mails of a report that is set up, and sends them now. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { hold } from "../../components/held-changes.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { Loaded } from "../../components/page.tsx";
import { useAction } from "../../components/toasts.tsx";
import { v1, withIdempotencyKey } from "../../data/client.ts";
import { createDataQuery } from "../../data/query.ts";
import { t } from "../../language/text.ts";

type ReportMail = Settings["reportMails"][number];
type Props = { organizationId: string; mails: readonly ReportMail[]; onSent: () => void };

export function MailActions({ organizationId, mails, onSent }: Props) {
  const [shown, setShown] = useState<ReportMail["interval"] | null>(null);
  const mail = mails.find(({ interval }) => interval === shown);
  return (
    <>
      {mails.map((one) => (
        <MailLine
          key={one.interval}
          mail={one}
          isShown={one === mail}
          onToggle={() => setShown(one === mail ? null : one.interval)}
          onSent={onSent}
        />
      ))}
      {mail !== undefined && <Preview organizationId={organizationId} mail={mail} />}
    </>
  );
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
    const once = withIdempotencyKey(crypto.randomUUID());
    await hold((query) =>
      v1.reports.mail.send.post({ interval, groupId, statusPageId }, { query, ...once }),
    );
    onSent();
  });
  return (
    <div className="report-mail-line flex items-center gap-6 text-s">
      <span>{interval === "weekly" ? t("The last week") : t("The last month")}</span>
      <Button size="compact-sm" aria-expanded={isShown} onClick={onToggle}>
        {t("Preview")}
      </Button>
      <Button size="compact-sm" disabled={send.isPending} onClick={send.run}>
        {t("Send now")}
      </Button>
    </div>
  );
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
    <Loaded query={preview} what={t("The mail")}>
      {({ language: lang, text, attachment }) => (
        <section aria-label={t("Preview")}>
          <pre className="report-mail" lang={lang} dir="auto" tabIndex={0}>
            {text}
          </pre>
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
