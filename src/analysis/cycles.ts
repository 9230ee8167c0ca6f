/**
 * Strongly connected components by Tarjan's algorithm, with a stack of its own so that a long dataflow does not end
 * the thread's. Each group comes after every group that it leads to.
 */
export function stronglyConnected(
  size: number,
  successors: (node: number) => readonly number[],
): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const onStack = new Uint8Array(size);
  const stack: number[] = [];
  let next = 0;

  for (let root = 0; root < size; root++) {
    if (index[root] !== -1) continue;
    const work: { node: number; targets: readonly number[]; at: number }[] = [];
    const enter = (node: number) => {
      index[node] = low[node] = next++;
      stack.push(node);
      onStack[node] = 1;
      work.push({ node, targets: successors(node), at: 0 });
    };
    enter(root);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node, targets } = frame;
      const target = targets[frame.at++];
      if (target !== undefined) {
        if (index[target] === -1) enter(target);
        else if (onStack[target] === 1) low[node] = Math.min(low[node] ?? 0, index[target] ?? 0);
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent !== undefined) low[parent.node] = Math.min(low[parent.node] ?? 0, low[node] ?? 0);
      if (low[node] === index[node]) groups.push(unwind(stack, onStack, node));
    }
  }
  return groups;
}

function unwind(stack: number[], onStack: Uint8Array, last: number): number[] {
  const group: number[] = [];
  for (;;) {
    const node = stack.pop();
    if (node === undefined) return group;
    onStack[node] = 0;
    group.push(node);
    if (node === last) return group;
  }
}
