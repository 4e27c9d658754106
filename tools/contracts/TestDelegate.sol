// SPDX-License-Identifier: Apache-2.0
// What an ordinary account of the tests delegates to (EIP-7702): its own key signs for it, as 65
// bytes, or behind a byte in front as for TestWallet.
pragma solidity 0.8.37;

contract TestDelegate {
    function isValidSignature(bytes32 digest, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        bytes calldata own = signature;
        if (signature.length == 66 && signature[0] == 0x77) own = signature[1:];
        if (own.length != 65) return 0xffffffff;
        address signer =
            ecrecover(digest, uint8(own[64]), bytes32(own[:32]), bytes32(own[32:64]));
        return signer == address(this) ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
