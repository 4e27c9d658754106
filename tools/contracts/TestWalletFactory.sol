// SPDX-License-Identifier: Apache-2.0
// Makes wallets at addresses that are known before (CREATE2): what a signature of EIP-6492 names.
pragma solidity 0.8.37;

import {TestWallet} from "./TestWallet.sol";

contract TestWalletFactory {
    function make(address owner, bytes32 salt) external returns (address) {
        return address(new TestWallet{salt: salt}(owner));
    }

    function addressOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code =
            keccak256(abi.encodePacked(type(TestWallet).creationCode, abi.encode(owner)));
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code));
        return address(uint160(uint256(hash)));
    }
}
