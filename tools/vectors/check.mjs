// Owns: the cross-check of the two implementations that the vectors come from.

/** Both implementations must say the same; what they said is handed on. */
export function agreed(what, viemSays, ethersSays) {
  const viemText = JSON.stringify(viemSays);
  const ethersText = JSON.stringify(ethersSays);
  if (viemText !== ethersText) {
    throw new Error(`${what}: viem says ${viemText}, ethers says ${ethersText}`);
  }
  return viemSays;
}
