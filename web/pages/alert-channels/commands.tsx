import { useAlertChannels } from "../../data/alert-channels.ts";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";
import type { Command } from "../../shell/palette-rules.ts";
import { testFromList } from "./actions.ts";

/** What the palette can do with alert channels. */
export function useChannelCommands(text: string, goTo: (href: string) => void): Command[] {
  const { data: channels = [] } = useAlertChannels();
  const { mayWrite } = useSignedIn();
  const icon = <Icon name="bell" />;
  const commands: Command[] = channels.flatMap((channel) => [
    {
      key: channel.id,
      label: channel.name,
      hint: "Alert channel",
      icon,
      run: () => goTo(`/alert-channels/${channel.id}`),
    },
    ...(mayWrite && text.length > 2
      ? [
          {
            key: `test ${channel.id}`,
            label: `Send test to ${channel.name}`,
            icon,
            run: () => void testFromList(channel),
          },
        ]
      : []),
  ]);
  if (mayWrite)
    commands.unshift({
      key: "new-channel",
      label: "Create alert channel",
      icon: <Icon name="plus" />,
      run: () => goTo("/alert-channels?new="),
      common: true,
    });
  return commands;
}
