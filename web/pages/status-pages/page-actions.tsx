import { Button, Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { dataOf } from "../../data/client.ts";
import { deleteWithUndo } from "../../components/deleting.ts";
import { pageRoutes, type StatusPage } from "../../data/status-pages.ts";
import { copy } from "../../components/curl-button.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";
import { addressOf } from "./page-words.tsx";

export function PageActions({ page }: { page: StatusPage }) {
  const { id, title } = page;
  const { mayWrite } = useSignedIn();
  const navigate = useNavigate();
  const address = addressOf(page);
  return (
    <>
      <Button
        component="a"
        href={address}
        target="_blank"
        rel="noreferrer"
        rightSection={<Icon name="external" size={14} />}
      >
        Open page
      </Button>
      <MoreActions>
        <MenuItem icon="copy" onClick={() => void copy(address, "Address")}>
          Copy address
        </MenuItem>
        <RecordItems
          curl={() => ({ method: "GET", route: pageRoutes(id) })}
          onDelete={
            mayWrite &&
            !page.default &&
            (() => {
              deleteWithUndo({ id, title }, () => dataOf(pageRoutes(id).delete()));
              void navigate({ to: "/status-pages" });
            })
          }
        />
        {mayWrite && page.default && (
          <>
            <Menu.Divider />
            <Menu.Item disabled>The default page cannot be deleted</Menu.Item>
          </>
        )}
      </MoreActions>
    </>
  );
}
