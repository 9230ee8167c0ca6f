import { damaged } from "../journal/problems.js";
import type { FollowedLog } from "../journal/stream/followed-table.js";
import type { Member } from "./member.js";
import type { MemberParts } from "./member-parts.js";

/** Follows the log for a member, instead of what it followed `before`. The member hears of epochs, and of a log that was cut too far. */
export async function openFollowed(
  parts: MemberParts,
  member: () => Member | null,
  before: FollowedLog | null = null,
  isAnew = false,
): Promise<FollowedLog> {
  const { port, world, address, directory, onWarning, onFailure, copies } = parts;
  copies?.follow(null);
  await before?.close();
  let followed: FollowedLog | null = null;
  followed = await world.openTable(port, {
    address,
    directory,
    isAnew,
    tap: copies ?? undefined,
    onWarning,
    onEpoch: (epoch, name) => member()?.noteEpoch(epoch, name),
    onFailure: (what) => {
      if (member()?.lostTrack(followed) !== true) onFailure(damaged(address, what));
    },
  });
  copies?.follow(followed.table);
  return followed;
}
