/** Shows how an incident with a draft looks on its public pages, one page at a time. */
import { Alert, NativeSelect, SegmentedControl } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { z } from "zod";
import type { IncidentAudience, IncidentDraft } from "../../../src/dashboard/incident-schema.ts";
import { dashboard, unwrapData } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";
import { nameLanguage } from "./translations.ts";
import { PublicPreview } from "../../components/display/public-preview.tsx";
import { t } from "../../language/text.ts";

export type Draft = Omit<z.input<typeof IncidentDraft>, "statusPageId" | "language">;

/** Pages that show the incident. Without one, the preview shows the default page. */
type Pages = IncidentAudience["pages"];

/** The preview of a draft, a moment after its last change. Blank texts are omitted, as if not entered. */
function usePreview(draft: Draft, page: Pages[number] | undefined, language: string | undefined) {
  const fields = Object.entries(draft).filter(
    ([, value]) => typeof value !== "string" || value.trim() !== "",
  );
  const [text] = useDebouncedValue(JSON.stringify(Object.fromEntries(fields)), 300);
  const shownLanguage = page?.languages.find((tag) => tag === language);
  const body = {
    ...(JSON.parse(text) as Draft),
    ...(page && { statusPageId: page.id }),
    ...(shownLanguage && { language: shownLanguage }),
  };
  return useQuery({
    // Events of incidents fetch it again.
    queryKey: [...listKey("incident"), "preview", body],
    queryFn: () => unwrapData(dashboard["incident-preview"].post(body)),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
}

const LanguageChoice = ({
  offered,
  value,
  onChange,
}: {
  offered: Pages[number]["languages"];
  value: string | undefined;
  onChange: (language: string) => void;
}) => (
  <NativeSelect
    size="xs"
    aria-label={t("Language of the preview")}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    data={offered.map((tag) => ({ value: tag, label: nameLanguage(tag) }))}
  />
);

/** The page and the language to show, with the fields that choose them; false without a choice. */
function useView(pages: Pages) {
  const [chosen, setChosen] = useState<string>();
  const page = pages.find(({ id }) => id === chosen) ?? pages[0];
  const [language, setLanguage] = useState<string>();
  const offered = page?.languages ?? [];
  const languageChoice = offered.length > 1 && (
    <LanguageChoice
      offered={offered}
      value={offered.find((tag) => tag === language) ?? offered[0]}
      onChange={setLanguage}
    />
  );
  const pageChoice = pages.length > 1 && (
    <SegmentedControl
      size="xs"
      className="customer-pages"
      aria-label={t("Status page")}
      value={page?.id ?? ""}
      onChange={setChosen}
      data={pages.map(({ id, title }) => ({ value: id, label: title }))}
    />
  );
  const choice = (pageChoice !== false || languageChoice !== false) && (
    <>
      {pageChoice}
      {languageChoice}
    </>
  );
  return { page, language, choice };
}

export function CustomerView({
  draft,
  pages,
  children,
}: {
  draft: Draft;
  pages: Pages;
  /** Rendered around the choice of the page. */
  children?: (choice: ReactNode) => ReactNode;
}) {
  const { page, language, choice } = useView(pages);
  const { data, error } = usePreview(draft, page, language);
  return (
    <>
      {children?.(choice) ?? choice}
      {error !== null && (
        <Alert color="red" variant="light" role="alert">
          {error.message}
        </Alert>
      )}
      {data?.html === null && (
        <p className="quiet">
          {t("The public would not see this.")}{" "}
          {draft.public === false
            ? t("The incident is not public.")
            : t(
                "The status page is hidden, or does not show the monitor that opened this incident.",
              )}
        </p>
      )}
      {data?.html != null && (
        <PublicPreview
          html={data.html}
          style={data.style}
          title={t("Preview of the status page")}
        />
      )}
      {data === undefined && error === null && <div className="public-preview" />}
    </>
  );
}
