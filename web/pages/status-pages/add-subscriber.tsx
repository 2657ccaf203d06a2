import { Modal, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { dataOf } from "../../data/client.ts";
import { pageRoutes, type StatusPage, type Subscriber } from "../../data/status-pages.ts";
import { CurlButton } from "../../components/curl-button.tsx";
import { FormFrame, useForm } from "../../components/form.tsx";
import { SecretField } from "../../components/secret-field.tsx";
import { notify } from "../../components/toasts.tsx";

/** A mailbox, which is asked first unless its owner agreed already, or a webhook. */
export function AddSubscriber({ page, onClose }: { page: StatusPage; onClose: () => void }) {
  const route = pageRoutes(page.id).subscribers;
  const [type, setType] = useState<Subscriber["type"]>("email");
  const form = useForm(
    { email: "", confirmed: false, url: "", secret: null as string | null | undefined },
    async (values) => {
      const { status } = await dataOf(route.post(bodyOf(values)));
      notify(
        status === "pending"
          ? `Sent a confirmation link to ${values.email}`
          : `Added ${type === "email" ? values.email : values.url}`,
      );
      onClose();
    },
  );
  const { values, set, errorOf } = form;
  const bodyOf = ({ email, confirmed, url, secret }: typeof values) =>
    type === "email" ? { type, email, confirmed } : { type, url, ...(secret && { secret }) };
  return (
    <Modal opened onClose={onClose} title="Add subscriber" size={480} closeOnClickOutside={false}>
      <FormFrame
        form={form}
        submit="Add subscriber"
        onCancel={onClose}
        extra={<CurlButton action={() => ({ method: "POST", route, body: bodyOf(values) })} />}
      >
        <SegmentedControl
          aria-label="Type"
          fullWidth
          value={type}
          onChange={setType}
          data={[
            { value: "email", label: "E-mail" },
            { value: "webhook", label: "Webhook" },
          ]}
        />
        {type === "email" ? (
          <>
            <TextInput
              key="email"
              label="E-mail address"
              data-autofocus
              autoComplete="off"
              placeholder="ann@team.example"
              {...form.input("email")}
            />
            <Switch
              label="The owner has agreed already"
              description="Otherwise a confirmation link is sent first, and updates only once it was used."
              {...form.toggle("confirmed")}
            />
          </>
        ) : (
          <>
            <TextInput
              key="url"
              label="URL"
              autoComplete="off"
              placeholder="https://bot.partner.example/status"
              {...form.input("url")}
            />
            <SecretField
              label="Secret"
              hint="Signs each request, as described by Standard Webhooks."
              error={errorOf("secret")}
              value={values.secret}
              onChange={(secret) => set("secret", secret)}
              isSet={false}
              mayBeNone
            />
          </>
        )}
      </FormFrame>
    </Modal>
  );
}
