/** The dialog that creates a status page. */
import { Select, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { slugify } from "../../../src/core/text/formatting.ts";
import { unwrapData, addIdempotencyKey, v1 } from "../../data/client.ts";
import { useOverview } from "../../data/overview.ts";
import { cacheStatusPage, type StatusPage } from "../../data/status-pages.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { useZone } from "../../components/display/time.tsx";
import { notify } from "../../components/toasts.tsx";
import { visibilities } from "./labels.tsx";
import { t } from "../../language/text.ts";

/** Derives an address from a title: `Card payments` becomes `card-payments`. */
const deriveSlug = (title: string) => slugify(title, 63);

/** Creates a status page. Its editor has all other settings. */
export default function CreatePage({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { data: overview } = useOverview();
  const [isSlugTyped, setIsSlugTyped] = useState(false);
  const form = useForm<Pick<StatusPage, "title" | "slug" | "visibility" | "timeZone">>(
    { title: "", slug: "", visibility: "hidden", timeZone: useZone() },
    async (values, _, idempotencyKey) => {
      const groups = overview?.groups ?? [];
      const sections = groups.slice(0, 100).map(({ id }) => ({ groupId: id }));
      const page = await unwrapData(
        v1["status-pages"].post({ ...values, sections }, addIdempotencyKey(idempotencyKey)),
      );
      cacheStatusPage(page);
      notify(t("Created {title}", { title: page.title }));
      void navigate({ to: "/status-pages/$id", params: { id: page.id } });
    },
    undefined,
    { key: "status-page" },
  );
  const { values, set, errorOf } = form;
  return (
    <FormDialog
      title={t("Create status page")}
      size={480}
      onClose={onClose}
      form={form}
      submit={t("Create status page")}
      curl={() => ({ method: "POST", route: v1["status-pages"], body: values })}
    >
      <TextInput
        label={t("Title")}
        data-autofocus
        placeholder={t("Payments")}
        value={values.title}
        onChange={({ currentTarget: { value } }) => {
          set("title", value);
          if (!isSlugTyped) set("slug", deriveSlug(value));
        }}
        error={errorOf("title")}
      />
      <TextInput
        label={t("Address")}
        leftSection={<span className="text-s faint">/status/</span>}
        leftSectionWidth={62}
        value={values.slug}
        onChange={({ currentTarget }) => {
          setIsSlugTyped(true);
          set("slug", currentTarget.value);
        }}
        error={errorOf("slug")}
      />
      <VisibilityField
        value={values.visibility}
        onChange={(visibility) => set("visibility", visibility)}
        error={errorOf("visibility")}
      />
    </FormDialog>
  );
}

const VisibilityField = ({
  value,
  onChange,
  error,
}: {
  value: StatusPage["visibility"];
  onChange: (visibility: StatusPage["visibility"]) => void;
  error: string | undefined;
}) => (
  <Select
    label={t("Visibility")}
    description={t("The page gets one section per group. Make it public once it is ready.")}
    data={(["hidden", "public"] as const).map((option) => ({
      value: option,
      label: visibilities[option].label,
    }))}
    value={value}
    onChange={(next) => onChange(next ?? "hidden")}
    allowDeselect={false}
    error={error}
  />
);
