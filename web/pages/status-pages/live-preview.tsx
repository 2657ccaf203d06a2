/** The preview of a status page with unsaved changes, rendered by the server. */
import { SegmentedControl } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import type { z } from "zod";
import type { Audience } from "../../../src/status-pages/access-rules.ts";
import type { StatusPagePatch, StatusPagePreview } from "../../../src/status-pages/schema.ts";
import { ApiError, dashboard, unwrapData } from "../../data/client.ts";
import { PublicPreview } from "../../components/display/public-preview.tsx";
import { t } from "../../language/text.ts";

type Body = z.input<typeof StatusPagePatch>;

const pauseMs = 200;
const widths = { desktop: 960, phone: 390 } as const;
type Device = keyof typeof widths;

/** Shows the page with the values of the form, as visitors would see it. */
export function LivePreview({
  id,
  body,
  dirty,
  isSplit,
  stamp,
}: {
  id: string;
  body: Body;
  /** Whether signed-in people see sections that others don't. */
  isSplit: boolean;
  dirty: boolean;
  /** Changes with content that is not in the form, such as the logo. */
  stamp: unknown;
}) {
  const [chosen, setAudience] = useState<Audience>("everyone");
  const audience = isSplit ? chosen : "signed-in";
  const { preview, issue } = usePreview(id, body, audience, stamp);
  const [device, setDevice] = useState<Device>("desktop");
  const { ref: box, ...size } = useElementSize();
  const width = widths[device];
  const scale = Math.min(1, size.width / width);
  return (
    <section className="preview" aria-label={t("Preview")}>
      <header className="preview-head">
        <span className="faint" role="status">
          {describePreview(issue, dirty)}
        </span>
        {isSplit && (
          <Choice
            label={t("Visitor of the preview")}
            options={visitorLabels}
            value={audience}
            onChange={setAudience}
          />
        )}
        <Choice
          label={t("Width of the preview")}
          options={deviceLabels}
          value={device}
          onChange={setDevice}
        />
      </header>
      <div className="preview-box" ref={box}>
        {preview !== null && size.width > 0 && (
          <PublicPreview
            {...preview}
            title={t("Preview of the page")}
            frameStyle={{
              width,
              height: size.height / scale,
              transform: `translateX(-50%) scale(${scale})`,
            }}
          />
        )}
      </div>
    </section>
  );
}

function describePreview(issue: string | null, dirty: boolean): string {
  if (issue !== null) return t("Preview not updated: {issue}", { issue });
  return dirty ? t("Preview, not saved yet") : t("Preview");
}

const visitorLabels: Record<Audience, string> = {
  everyone: t("Everyone"),
  "signed-in": t("Signed in"),
};
const deviceLabels: Record<Device, string> = { desktop: t("Desktop"), phone: t("Phone") };

const Choice = <T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: Record<T, string>;
  value: T;
  onChange: (value: T) => void;
}) => (
  <SegmentedControl
    size="xs"
    aria-label={label}
    value={value}
    onChange={(next) => onChange(next as T)}
    data={Object.entries<string>(options).map(([value, label]) => ({ value, label }))}
  />
);

function usePreview(id: string, body: Body, audience: Audience, stamp: unknown) {
  const [preview, setPreview] = useState<StatusPagePreview | null>(null);
  const [issue, setIssue] = useState<string | null>(null);
  const last = useRef(0);
  useEffect(() => {
    const turn = ++last.current;
    const timer = setTimeout(() => {
      unwrapData(dashboard["status-pages"]({ id }).preview.post(body, { query: { audience } }))
        .then((rendered) => {
          if (turn !== last.current) return;
          setPreview(rendered);
          setIssue(null);
        })
        .catch((error: unknown) => {
          if (turn === last.current) setIssue(describeError(error));
        });
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [id, body, audience, stamp]);
  return { preview, issue };
}

function describeError(error: unknown): string {
  const [detail] = error instanceof ApiError ? error.details : [];
  if (detail !== undefined) return `${detail.path} ${detail.message}.`;
  return error instanceof Error ? error.message : String(error);
}
