// SPDX-License-Identifier: Apache-2.0
// A contract wallet (EIP-1271) whose one owner signs for it: what the token's selftest pays from.
pragma solidity 0.8.37;

contract TestWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    /// `signature` is r, s, v of the owner, with a byte in front: a form no ordinary account has.
    function isValidSignature(bytes32 digest, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        if (signature.length != 66 || signature[0] != 0x77) return 0xffffffff;
        bytes32 r = bytes32(signature[1:33]);
        bytes32 s = bytes32(signature[33:65]);
        address signer = ecrecover(digest, uint8(signature[65]), r, s);
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
